import { startFixtureSite } from '../support/fixture-site/site.ts';
import { openFilms } from './films.ts';
import { day, hour, type House, type Moment } from './moment.ts';

const finished: readonly (readonly [daysAgo: number, title: string])[] = [
  [27, 'How lighthouses are built, and why they stand for centuries'],
  [21, 'Knots every sailor knows'],
  [14, 'A year in the harbour, in four minutes'],
  [9, 'Baking rye bread without hurry'],
  [6, 'Night trains of Europe: Berlin to Stockholm'],
  [4, 'Concert in the old church'],
  [2, 'The river in winter'],
  [0.4, 'Repairing a bicycle wheel'],
];

/** Finished and failed downloads, two running ones, and subscriptions. */
export async function downloads({ folder, ask, keep }: House): Promise<readonly Moment[]> {
  const site = keep(await startFixtureSite());
  const films = keep(await openFilms(folder, site.address));
  const settled = async (): Promise<void> => {
    for (;;) {
      const { queue } = await ask('GET', '/downloads');
      if (queue.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const get = async (url: string, overrides: object = {}): Promise<void> => {
    await ask('POST', '/downloads', { url, ...overrides });
    await settled();
  };
  const channel = (name: string, title: string, titles: readonly string[], overrides: object = {}): string =>
    `${new URL(site.publish(name, titles)).href.split('?')[0] ?? ''}?${new URLSearchParams({ title, ...overrides }).toString()}`;
  const bread = ['Sourdough from nothing', 'Ovens and stones', 'Flour: what the numbers say'];
  const boats = ['Caulking a hull', 'Sails and their names'];
  const check = async (name: string): Promise<void> => {
    const { subscriptions } = await ask('GET', '/downloads/subscriptions');
    const subscription = subscriptions.find(({ url }: { url: string }) => url.includes(`/channel/${name}.rss`));
    await ask('POST', '/downloads/subscriptions/check', { ids: [subscription.id] });
  };
  return [
    {
      ago: 26 * day,
      async run() {
        const subscribe = (url: string, overrides: object): Promise<unknown> =>
          ask('POST', '/downloads/subscriptions', { url, ...overrides });
        await subscribe(channel('bread', 'The slow kitchen', bread, { image: films.picture(2) }), {
          intervalMinutes: 60,
          folder: 'Kitchen',
          quality: '1080',
          format: 'mp4',
        });
        await subscribe(channel('boats', 'Wooden boats', boats), { intervalMinutes: 720, titleRegex: 'sail|hull' });
      },
    },
    ...finished.map(([days, title]) => ({ ago: days * day, run: () => get(films.page(title)) })),
    {
      ago: 5 * hour,
      async run() {
        await get(films.page('The sea at night, to fall asleep', '/aud.m4a'), {
          download_type: 'audio',
          quality: 'best',
          format: 'mp3',
        });
        await get(films.page('Private: the regatta of 1998', '/removed.mp4'));
        channel('bread', 'The slow kitchen', ['Rye, three ways', ...bread]);
        await check('bread');
        await settled();
        site.publish('boats', undefined);
        await check('boats');
      },
    },
    {
      ago: 0,
      async run() {
        const downloadSlowly = (title: string, rate: number): Promise<unknown> =>
          ask('POST', '/downloads', { url: films.page(title, `/slow/${String(rate)}/big.mp4`) });
        await downloadSlowly('Harbour at dawn, four hours of calm water', 12);
        await downloadSlowly('Mending a wooden hull: planks, caulk and patience', 9);
        await ask('POST', '/downloads', { url: films.page('A walk along the pier'), auto_start: false });
      },
    },
  ];
}
