import type { Browser, Page } from 'playwright-core';
import { control } from '../../services/control/index.ts';
import { data } from '../../services/data/index.ts';
import { push } from '../../services/push/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { MemoryDownloads, MemoryInbox } from '../renderer/memory-services.ts';
import { api } from '../support/api.ts';
import { within } from '../support/browser-timeouts.ts';
import { openPage, signIn } from '../support/browser.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { signJwt } from '../support/jwt.ts';
import { frameMark, traceFrames, type FrameWork } from './frame-trace.ts';
import { percentile } from './measure.ts';
import type { Figure } from './run.ts';

const rowCount = 500;
const frameCount = 120;
/** Distance of a frame in px: about four rows, as when a list is flung. */
const frameDistance = 240;
const topic = 'frames';
const jwtSecret = 'a-secret-of-benches-that-is-long-enough';

/** A list, the path of its page, and the selector of a row, whose parent's parent scrolls. */
interface ScrollingList {
  readonly name: string;
  readonly path: string;
  readonly row: string;
}

const lists: readonly ScrollingList[] = [
  { name: 'messages', path: `/push/topics/${topic}`, row: 'li[aria-posinset]' },
  { name: 'downloads', path: '/downloads', row: 'li[aria-posinset]' },
  { name: 'monitors', path: '/uptime/monitors', row: 'li[aria-posinset]' },
  { name: 'the inbox', path: '/inbox', row: 'li[aria-posinset]' },
  { name: 'table rows', path: '/data/tables/public.frames/', row: '[role=row].item' },
];

/**
 * Flings through long lists and returns the work of a frame on the main thread by the browser's tracing, beside that of
 * a list of the same size with one line of text in each row, which no script updates.
 */
export async function measureListFrames(browser: Browser): Promise<readonly Figure[]> {
  const downloads = new MemoryDownloads();
  const inbox = new MemoryInbox();
  addDownloads(downloads);
  for (let index = 0; index < rowCount; index += 1)
    inbox.add({ body: 'Disk 3 is filling up: 91 % of 4 TB are in use.' });
  // Pages of another build, to compare two versions.
  const built = process.env['HOMEPORT_TEST_PAGES'];
  await using host = await openTestHost({
    services: [downloads.descriptor, inbox.descriptor, push, uptime, data, control],
    environment: { DATA_JWT_SECRET: jwtSecret },
    ...(built ? { pages: built } : {}),
  });
  await addMonitors(host);
  await addMessages(host);
  await addTableRows(host);
  const figures: Figure[] = [];
  for (const list of lists) {
    await using visit = await openPage(browser, { width: 1440, height: 900 });
    await signIn(visit.page.context(), host.url('control'));
    await visit.page.goto(host.url('control') + list.path);
    await visit.page.locator(list.row).nth(5).waitFor();
    const frames = await fling(browser, visit.page, list);
    await replaceWithPlainRows(visit.page, list);
    const floor = await fling(browser, visit.page, { ...list, row: '[data-plain]' });
    figures.push(...describeFrames(list.name, frames, floor));
  }
  return figures;
}

function describeFrames(name: string, frames: readonly FrameWork[], floor: readonly FrameWork[]): readonly Figure[] {
  const getTotal = ({ script, layout, paint }: FrameWork): number => script + layout + paint;
  const compare = (share: number, read: (frame: FrameWork) => number) => ({
    measured: percentile(frames.map(read), share),
    peer: percentile(floor.map(read), share),
    unit: 'ms',
  });
  return [
    {
      what: `frame of the list of ${name}, beside plain rows (p50)`,
      ...compare(0.5, getTotal),
      goal: { at: 'most', value: 8 },
    },
    { what: '  of which scripts', ...compare(0.5, ({ script }) => script) },
    { what: '  of which style and layout', ...compare(0.5, ({ layout }) => layout) },
    { what: '  of which painting', ...compare(0.5, ({ paint }) => paint) },
    { what: '  p99', ...compare(0.99, getTotal), goal: { at: 'most', value: 16.7 } },
  ];
}

function addDownloads(downloads: MemoryDownloads): void {
  for (let index = 0; index < rowCount; index += 1)
    downloads.set(`d${String(index)}`, {
      title: `Video ${String(index)}`,
      state: 'finished',
      size: 400_000_000,
      filename: `Video ${String(index)}.mp4`,
      media: { channel: 'Lights of the coast', duration: 3912, height: 1080, videoCodec: 'h264', audioCodec: 'aac' },
    });
}

async function addMonitors(host: TestHost): Promise<void> {
  const items = Array.from({ length: rowCount }, (_, index) => ({
    type: 'push',
    name: `Machine ${String(index)}`,
    interval: 3600,
    pushToken: `frames${String(index)}`,
  }));
  await api(host.url('control'), '/api/uptime/monitors/bulk', { method: 'POST', body: JSON.stringify({ items }) });
  for (let index = 0; index < rowCount; index += 1)
    await fetch(`${host.url('uptime')}/api/push/frames${String(index)}?status=up&ping=${String(20 + (index % 90))}`);
}

async function addMessages(host: TestHost): Promise<void> {
  for (let index = 0; index < rowCount; index += 1)
    await fetch(`${host.url('push')}/${topic}`, {
      method: 'POST',
      body: `Backup ${String(index)} finished: 312 new files, no errors.`,
      headers: { Authorization: adminAuthorization, Title: `Backup ${String(index)}`, Priority: '4' },
    });
}

async function addTableRows(host: TestHost): Promise<void> {
  const iat = Math.floor(Date.now() / 1000);
  const apikey = signJwt({ iss: 'supabase', role: 'service_role', iat, exp: iat + 86_400 }, jwtSecret);
  const query = `create table frames (id int primary key, name text, size numeric, seen_at timestamptz default now());
    insert into frames select n, 'Boat ' || n, n * 1.5 from generate_series(1, ${String(rowCount)}) n; select 1`;
  const reply = await fetch(`${host.url('data')}/pg/query`, {
    method: 'POST',
    headers: { apikey, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  if (!reply.ok) throw new Error(await reply.text());
}

/** Scrolls through a list once to load its code and its rows, and again under tracing. */
async function fling(browser: Browser, page: Page, list: ScrollingList): Promise<readonly FrameWork[]> {
  await scroll(page, list);
  return traceFrames(browser, page, () => scroll(page, list));
}

async function scroll(page: Page, { name, row }: ScrollingList): Promise<void> {
  const scrolled = page.evaluate(
    async ({ selector, frames, distance, mark }) => {
      const list = document.querySelector(selector)?.parentElement?.parentElement;
      if (!list) throw new Error('the page has no list');
      list.scrollTop = 0;
      for (let frame = 0; frame < frames; frame += 1) {
        await new Promise((resolve) => requestAnimationFrame(resolve));
        performance.mark(mark);
        // It reads no position, which would add a layout.
        list.scrollTo({ top: frame * distance });
      }
    },
    { selector: row, frames: frameCount, distance: frameDistance, mark: frameMark },
  );
  await within(`the list of ${name} is scrolled`, scrolled);
}

/** Replaces a list with a plain one: as many rows of the same height, all of them rendered. */
async function replaceWithPlainRows(page: Page, { row }: ScrollingList): Promise<void> {
  await page.evaluate(
    ({ selector, count }) => {
      const first = document.querySelector<HTMLElement>(selector);
      const list = first?.parentElement?.parentElement;
      if (!first || !list) throw new Error('the page has no list');
      const rows = Array.from({ length: count }, (_, index) => {
        const plain = document.createElement('div');
        plain.style.height = `${String(first.offsetHeight)}px`;
        plain.textContent = `Row ${String(index)}`;
        plain.dataset['plain'] = '';
        return plain;
      });
      // Without the listeners of the list.
      const plainList = list.cloneNode(false) as HTMLElement;
      const body = document.createElement('div');
      body.append(...rows);
      plainList.append(body);
      list.replaceWith(plainList);
    },
    { selector: row, count: rowCount },
  );
}
