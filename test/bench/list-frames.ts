import type { Browser, Page } from 'playwright-core';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { MemoryDownloads } from '../renderer/memory-services.ts';
import { api } from '../support/api.ts';
import { openPage, signIn } from '../support/browser.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import type { Figure } from './run.ts';

const rowCount = 500;
const frameCount = 120;
/** Distance of a frame in px: about four rows, as when a list is flung. */
const frameDistance = 240;
const topic = 'frames';

/** Main-thread work of one frame, in ms. */
interface FrameWork {
  readonly total: number;
  /** Style and layout, part of the total. */
  readonly layout: number;
  /** Longest single task. */
  readonly longest: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Duration in µs, and the part of it that the thread had a processor. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Flings through lists of downloads, monitors and messages, and returns the work of a frame by the browser's tracing.
 * A frame of 16.7 ms leaves about 10 ms for the page.
 */
export async function measureListFrames(browser: Browser): Promise<readonly Figure[]> {
  const downloads = new MemoryDownloads();
  for (let index = 0; index < rowCount; index += 1)
    downloads.set(`d${String(index)}`, {
      title: `Video ${String(index)}`,
      state: 'finished',
      size: 400_000_000,
      filename: `Video ${String(index)}.mp4`,
      media: { channel: 'Lights of the coast', duration: 3912, height: 1080, videoCodec: 'h264', audioCodec: 'aac' },
    });
  // Pages of another build, to compare two versions.
  const built = process.env['HOMEPORT_TEST_PAGES'];
  const services = [downloads.descriptor, push, uptime, control];
  await using host = await openTestHost({ services, ...(built ? { pages: built } : {}) });
  await addMonitors(host);
  await addMessages(host);
  const lists = [
    ['messages', `/push/topics/${topic}`],
    ['downloads', '/downloads'],
    ['monitors', '/uptime/monitors'],
  ] as const;
  const figures: Figure[] = [];
  for (const [name, path] of lists) {
    await using visit = await openPage(browser, { width: 1440, height: 900 });
    await signIn(visit.page.context(), host.url('control'));
    await visit.page.goto(host.url('control') + path);
    const work = await fling(browser, visit.page);
    figures.push(
      {
        what: `frame of the list of ${name}`,
        measured: work.total,
        unit: 'ms',
        goal: { at: 'most', value: 10 },
      },
      { what: `  of which style and layout`, measured: work.layout, unit: 'ms' },
      { what: `  longest task`, measured: work.longest, unit: 'ms' },
    );
  }
  return figures;
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

/** Scrolls the long list of a page once to load its code, and again under tracing. */
async function fling(browser: Browser, page: Page): Promise<FrameWork> {
  await page.locator('li[aria-posinset="5"]').first().waitFor();
  await scroll(page, 20);
  await browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline'] });
  await scroll(page, frameCount);
  const trace = JSON.parse((await browser.stopTracing()).toString('utf8')) as { traceEvents: TraceEvent[] };
  return summarize(trace.traceEvents);
}

async function scroll(page: Page, frames: number): Promise<void> {
  await page.evaluate(
    async ({ frames: count, distance }) => {
      const list = document.querySelector('li[aria-posinset]')?.parentElement?.parentElement;
      if (!list) throw new Error('the page has no list');
      list.scrollTop = 0;
      for (let frame = 0; frame < count; frame += 1) {
        list.scrollTop += distance;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    },
    { frames, distance: frameDistance },
  );
}

/** Sums up the busiest main thread, which is that of the page. */
function summarize(events: readonly TraceEvent[]): FrameWork {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const threads = mains.map(({ pid, tid }) => {
    const own = events.filter((event) => event.pid === pid && event.tid === tid && event.ph === 'X');
    const durations = (names: readonly string[]): number[] =>
      own.filter(({ name }) => names.includes(name)).map(({ dur = 0, tdur = dur }) => tdur / 1000);
    const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);
    const tasks = durations(['RunTask']);
    return {
      total: sum(tasks) / frameCount,
      layout: sum(durations(['Layout', 'UpdateLayoutTree'])) / frameCount,
      longest: Math.max(0, ...tasks),
    };
  });
  const busiest = threads.toSorted((a, b) => b.total - a.total)[0];
  if (busiest === undefined || busiest.total === 0) throw new Error('the trace has no tasks of the page');
  return busiest;
}
