import { adminAuthorization } from '../support/host.ts';
import { daily, day, hour, minute, range, pseudoRandom, type House, type Moment } from './moment.ts';

interface Published {
  readonly topic: string;
  readonly message: string;
  readonly title?: string;
  readonly priority?: number;
  readonly tags?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** Topics of programs in the household, some with buttons, files and Markdown. */
export async function messages({ host, ask }: House): Promise<readonly Moment[]> {
  const publish = async ({ topic, message, title, priority = 3, tags = '', more = {} }: Published): Promise<void> => {
    const headers = {
      ...{ Authorization: adminAuthorization, Priority: String(priority), Tags: tags },
      ...(title === undefined ? {} : { Title: title }),
      ...more,
    };
    const reply = await fetch(`${host.url('push')}/${topic}`, { method: 'POST', body: message, headers });
    if (!reply.ok) throw new Error(`${topic}: ${await reply.text()}`);
  };
  const publishAt = (ago: number, message: Published): Moment => ({ ago, run: () => publish(message) });
  return [
    {
      // Runs before anything is published, because a removed topic must not return.
      ago: 40 * day,
      run: () =>
        ask('PUT', '/push/retention', {
          rules: [
            { topic: 'nas-*', seconds: 90 * 86_400, most: null },
            { topic: 'home-info-solar', seconds: 7 * 86_400, most: 100 },
          ],
        }),
    },
    ...daily(range(0, 30), 19, (back) =>
      publish({
        ...{ topic: 'nas-info-backup', title: 'Backup finished', tags: 'floppy_disk' },
        message: `All 3 volumes were saved, ${String(4 + pseudoRandom(back, 9))} GB of them new.`,
      }),
    ),
    ...daily(range(0, 30, 2), 13, (back) =>
      publish({
        ...{
          topic: 'home-info-solar',
          title: `Solar: ${String(6 + pseudoRandom(back, 14))} kWh`,
          priority: 2,
          tags: 'sunny',
        },
        message: 'More than the house used today.',
      }),
    ),
    ...daily(range(1, 30, 3), 9, (back) =>
      publish({
        topic: 'home-info-door',
        title: 'Somebody rings',
        message: `Front door, 14:${String(10 + pseudoRandom(back, 49))}`,
        priority: 4,
        tags: 'bell',
      }),
    ),
    ...daily(range(0, 28, 7), 15, () =>
      publish({
        ...{ topic: 'garden-info-water', title: 'The tank is three quarters full', tags: 'droplet', priority: 2 },
        message: 'Enough for **12 days** without rain.',
        more: { Markdown: 'yes' },
      }),
    ),
    publishAt(3 * day, {
      ...{ topic: 'nas-error-disk', title: 'Disk failing', priority: 5, tags: 'rotating_light,nas' },
      message: 'sdb: 12 sectors are pending. Replace it soon.',
      more: { Click: 'https://nas.home.example/disks', Actions: 'view, Open the NAS, https://nas.home.example/disks' },
    }),
    publishAt(26 * hour, {
      ...{ topic: 'home-info-camera', title: 'Parcel at the gate', tags: 'package', priority: 3 },
      message: 'Left beside the door at 16:40.',
    }),
    publishAt(3 * hour, {
      ...{ topic: 'home-info-washing', title: 'The washing machine is done', tags: 'tshirt' },
      message: 'Cotton 40, 1 h 52 min, 0.6 kWh.',
    }),
    publishAt(95 * minute, {
      ...{ topic: 'nas-info-update', title: 'Updates are ready', tags: 'arrow_up' },
      message:
        '## 3 packages\n\n- kernel 6.1.112\n- samba 4.17.12\n- openssl 3.0.15\n\nThey are put in tonight at 03:00.',
      more: {
        Markdown: 'yes',
        Actions: 'http, Put them in now, https://nas.home.example/updates, method=POST, clear=true',
      },
    }),
    publishAt(22 * minute, {
      ...{
        topic: 'home-info-door',
        title: 'Somebody rings',
        message: 'Front door, just now.',
        priority: 4,
        tags: 'bell',
      },
    }),
    {
      ago: 0,
      async run() {
        const later = (topic: string, title: string, message: string, delay: string): Promise<void> =>
          publish({ topic, title, message, more: { Delay: delay } });
        await later('home-info-reminder', 'Put the bins out', 'Paper and glass tomorrow morning.', '9h');
        await later('home-info-reminder', 'Call the chimney sweep', 'Number on the fridge.', '2d');
        const schedule = (topic: string, title: string, message: string, rule: string): Promise<unknown> =>
          ask('POST', '/push/schedules', { ...{ topic, title, message, rule, zone: 'Europe/Berlin' } });
        await schedule('home-info-reminder', 'Water the plants', 'The ones on the balcony, too.', '0 18 * * 2,5');
        await schedule('garden-info-water', 'Clean the filter', 'Of the pump in the shed.', '0 10 1 * *');
        await ask('PUT', '/push/quiet', {
          rules: [
            { topics: '*', mode: 'normal', quiet: ['mon-fri 22:00-07:00', 'sat sun 23:00-09:00'] },
            { topics: 'nas-error-*', mode: 'always', repeatMinutes: 10 },
            { topics: 'home-info-solar', mode: 'silent' },
          ],
          zone: 'Europe/Berlin',
        });
      },
    },
  ];
}
