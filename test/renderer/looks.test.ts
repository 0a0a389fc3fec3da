import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceChanged } from '../../services/contracts/control.ts';
import { noBrowser } from '../support/browser.ts';
import { openPages, type Pages } from './visit.ts';

/** Photographs for a person to judge; what a machine can judge is asserted below. */
const folder = fileURLToPath(new URL('../../.cache/screenshots', import.meta.url));

const views = [
  ['home', '/', 'Home'],
  ['inbox', '/inbox', 'Inbox'],
  ['message', '/inbox?id=7', 'Inbox'],
  ['downloads', '/downloads', 'Downloads'],
  ['settings', '/settings/moody', 'Settings'],
  ['log', '/log', 'Log'],
] as const;
const screens = [
  { width: 360, height: 740, touch: true, dark: false },
  { width: 360, height: 740, touch: true, dark: true },
  { width: 768, height: 900, dark: false },
  { width: 1440, height: 900, dark: false },
  { width: 1440, height: 900, dark: true },
] as const;

describe.skipIf(noBrowser)('the pages', () => {
  let pages: Pages;
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    pages = await openPages({ environment: { MOODY_FOLDER: '/srv/moody' } });
    furnish(pages);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  describe.each(screens)('at $width px, dark $dark', (screen) => {
    const { width, dark } = screen;
    it.each(views)('fit: %s', async (name, path, heading) => {
      await using visit = await pages.visit(path, screen);
      const { page } = visit;
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      await page.getByRole('status', { name: /^Reading / }).waitFor({ state: 'detached' });
      if (name === 'home') {
        pages.inbox.bus?.publish(serviceChanged, {
          ...{ id: 'moody', title: 'Moody', summary: 'Has a setting of each kind.', state: 'failed', detail: '' },
          reason: 'Port 2586 on 127.0.0.1 is taken by ntfy (process 812). Stop it, or let this service use 2587.',
          ...{ address: null, port: null, suggestedPort: 2587 },
        });
        await page.getByText('Use port 2587').waitFor();
      }
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      await page.screenshot({
        path: `${folder}/${name}-${String(width)}-${dark ? 'dark' : 'light'}.png`,
        fullPage: true,
      });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(wide).toBeLessThanOrEqual(0);
      expect(visit.complaints).toEqual([]);
    });

    it('fit: sign-in', async () => {
      await using visit = await pages.visit('/', { ...screen, signedIn: false });
      await visit.page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await visit.page.evaluate(() => document.fonts.ready.then(() => undefined));
      await visit.page.screenshot({
        path: `${folder}/sign-in-${String(width)}-${dark ? 'dark' : 'light'}.png`,
      });
      expect(visit.complaints).toEqual([]);
    });
  });

  it('name every control and have one main heading', async () => {
    for (const [, path] of views) {
      await using visit = await pages.visit(path);
      const { page } = visit;
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      expect(await page.getByRole('main').count()).toBe(1);
      const controls = page.locator('button, a, input, select, textarea');
      const nameless = await controls.evaluateAll((elements) =>
        elements
          .filter((element) => {
            const labels = 'labels' in element ? [...((element.labels as NodeListOf<Element> | null) ?? [])] : [];
            const texts = [
              element.textContent,
              element.getAttribute('aria-label'),
              ...labels.map((label) => label.textContent),
            ];
            return texts.every((text) => (text ?? '').trim() === '');
          })
          .map((element) => element.outerHTML),
      );
      expect(nameless).toEqual([]);
    }
  });
});

function furnish({ inbox, downloads }: Pages): void {
  const minutes = (count: number): number => Date.now() - count * 60_000;
  const long =
    'The nightly backup of /srv/photos finished after 42 min.\n\n  files      18,204\n  new           312\n  errors          0\n\nNext run: tomorrow at 03:15.\nhttps://nas.home.example/backup/report/2026-11-20-full-and-verified-with-a-long-name';
  inbox.add({ title: 'Weekly report', body: 'All good.', time: minutes(60 * 50), read: true });
  inbox.add({
    title: 'Certificate renewed',
    body: 'nas.home.example until February 19.',
    time: minutes(60 * 26),
    read: true,
  });
  inbox.add({
    title: 'New sign-in',
    body: 'From 192.168.1.20 with Firefox.',
    source: 'control',
    time: minutes(600),
    read: true,
  });
  inbox.add({
    title: '',
    body: 'A message without a title, only text.',
    source: 'push',
    topic: 'alerts',
    time: minutes(300),
    read: true,
  });
  inbox.add({
    title: 'Site answers slowly',
    body: '2.4 s on average',
    source: 'uptime',
    priority: 4,
    time: minutes(42),
  });
  inbox.add({
    title: 'nas.home.example is down',
    body: 'Connection refused, three times in a row.',
    source: 'uptime',
    priority: 5,
    time: minutes(12),
  });
  inbox.add({
    title: 'Backup finished: a subject line that is longer than any list should have to show in full',
    body: long,
    tags: ['nas', 'backup'],
    link: 'https://nas.home.example/',
    time: minutes(4),
  });
  downloads.set('1', {
    title: 'How lighthouses are built, and why they stand for centuries: a long title',
    state: 'finished',
    filename: 'How lighthouses are built.mp4',
    size: 412_000_000,
    finishedAt: minutes(200),
  });
  downloads.set('2', {
    title: 'Private video',
    state: 'failed',
    message: 'This video is private. Sign in to the site in your browser and export its cookies.',
    finishedAt: minutes(30),
  });
  downloads.set('3', {
    title: 'Harbour at dawn, four hours of calm water',
    state: 'downloading',
    percent: 62.4,
    speed: 3_140_000,
    eta: 42,
  });
  downloads.set('4', {
    title: 'Knots every sailor knows',
    state: 'postprocessing',
    message: 'Joining video and audio',
  });
  downloads.set('5', {
    url: 'https://videos.example/watch?v=aVeryLongAddressThatHasNoTitleYetAndGoesOn',
    state: 'waiting',
  });
}
