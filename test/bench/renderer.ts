import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, CDPSession, Locator, Page } from 'playwright-core';
import { control } from '../../services/control/index.ts';
import { MemoryDownloads, MemoryInbox } from '../renderer/memory-services.ts';
import { launchBrowser, openPage, signIn } from '../support/browser.ts';
import { builtPages, openTestHost } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';
import { measureListFrames } from './list-frames.ts';
import { inFreshFolder, percentile } from './measure.ts';
import type { BenchOptions, Figure } from './run.ts';

const eventsPerSecond = 1000;
/** Number of messages in an hour with ten per second, as in a busy household, sent at the maximum rate of the page. */
const thorough = { rounds: 5, streamSeconds: 20, hourOfEvents: 36_000 } as const;
const quickSettings = { rounds: 2, streamSeconds: 5, hourOfEvents: 10_000 } as const;
type Pace = typeof thorough | typeof quickSettings;
/** Rows of a download queue. */
const timeoutMs = 10_000;
const flungFrames = 300;

/** Measures the pages in the real Chromium against the real host, as a user experiences them. */
export async function benchRenderer({ quick, print }: BenchOptions): Promise<void> {
  const pace = quick ? quickSettings : thorough;
  const browser = await launchBrowser('whole');
  try {
    print(entryBundle());
    print(await firstPage(browser, pace));
    print(...(await stream(browser, pace)));
    print(...(await longQueue(browser)));
    print(...(await measureListFrames(browser)));
  } finally {
    await browser.close();
  }
}

/** Returns all scripts and styles that the browser loads before the first page can run. */
function entryBundle(): Figure {
  const entry = readFileSync(join(builtPages, 'index.html'), 'utf8');
  const files = [...entry.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file ?? '');
  const bytes = files.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(builtPages, file)), { level: 9 }).length,
    0,
  );
  return { what: 'entry bundle (gzip)', measured: bytes / 1000, unit: 'kB', goal: { at: 'most', value: 150 } };
}

/**
 * Measures the time from the `ready` line of the host until Home shows all rows in an open browser, compared with a
 * single picture.
 */
function firstPage(browser: Browser, { rounds }: Pace): Promise<Figure> {
  return inFreshFolder(async (folder) => {
    const times: Record<'home' | 'bare', number[]> = { home: [], bare: [] };
    for (let round = 0; round < rounds; round += 1) {
      times.bare.push(await untilDrawn(browser, folder, '/mark.svg', (page) => page.locator('svg')));
      times.home.push(
        await untilDrawn(browser, folder, '/', (page) =>
          page.getByRole('region', { name: 'Services' }).getByRole('listitem').first(),
        ),
      );
    }
    return {
      what: 'ready to signed in and Home drawn, beside a bare picture (median)',
      measured: percentile(times.home, 0.5),
      unit: 's',
      peer: percentile(times.bare, 0.5),
      goal: { at: 'most', value: 0.6 },
    };
  });
}

/** Measures the seconds from `ready` until a page is shown in a new profile after a sign-in. */
async function untilDrawn(
  browser: Browser,
  folder: string,
  path: string,
  getLocator: (page: Page) => Locator,
): Promise<number> {
  await using host = await startHostProcess(folder);
  const ready = performance.now();
  await using browserPage = await openPage(browser);
  const { page } = browserPage;
  await signIn(page.context(), host.url('control'));
  await page.goto(host.url('control') + path);
  await getLocator(page).waitFor();
  const seconds = (performance.now() - ready) / 1000;
  await host.stop();
  return seconds;
}

/** Measures the Inbox during many messages: CPU share, frame delays and memory. */
async function stream(browser: Browser, { streamSeconds, hourOfEvents }: Pace): Promise<readonly Figure[]> {
  const inbox = new MemoryInbox();
  await using host = await openTestHost({ services: [inbox.descriptor, control] });
  await using browserPage = await openPage(browser);
  const { page } = browserPage;
  await signIn(page.context(), host.url('control'));
  await page.goto(`${host.url('control')}/inbox`);
  const system = await browser.newBrowserCDPSession();
  const tools = await page.context().newCDPSession(page);

  await publishEvents(inbox, 2000);
  await caughtUp(page, inbox);
  const early = await heapMegabytes(tools);

  const before = { cpu: await rendererSeconds(system), at: performance.now() };
  const frames = askForFrames(page);
  await publishEvents(inbox, eventsPerSecond * streamSeconds);
  const waits = await frames.stop();
  const share = (await rendererSeconds(system)) - before.cpu;
  const seconds = (performance.now() - before.at) / 1000;

  await publishEvents(inbox, hourOfEvents - eventsPerSecond * streamSeconds);
  await caughtUp(page, inbox);
  const late = await heapMegabytes(tools);
  return [
    { what: 'events sent to the Inbox', measured: (eventsPerSecond * streamSeconds) / seconds, unit: 'a second' },
    {
      what: 'page at that rate (share of one core, all its threads)',
      measured: (share / seconds) * 100,
      unit: '%',
      goal: { at: 'most', value: 50 },
    },
    {
      what: 'a frame asked for meanwhile (p99)',
      measured: percentile(waits, 0.99),
      unit: 'ms',
      goal: { at: 'most', value: 200 },
    },
    { what: 'memory after 2,000 events (heap)', measured: early, unit: 'MB' },
    {
      what: `memory after ${hourOfEvents.toLocaleString('en')} events (heap)`,
      measured: late,
      unit: 'MB',
      goal: { at: 'most', value: Math.ceil(early * 1.25) },
    },
  ];
}

/** Measures fast scrolling through a queue of ten thousand downloads while three of them are running. */
async function longQueue(browser: Browser): Promise<readonly Figure[]> {
  const downloads = new MemoryDownloads();
  for (let index = 0; index < timeoutMs; index += 1)
    downloads.set(`d${String(index)}`, {
      title: `Video ${String(index)}`,
      state: index < 3 ? 'downloading' : 'waiting',
    });
  await using host = await openTestHost({ services: [downloads.descriptor, control] });
  await using browserPage = await openPage(browser);
  const { page } = browserPage;
  await signIn(page.context(), host.url('control'));
  const opened = performance.now();
  await page.goto(`${host.url('control')}/downloads`);
  await page.getByRole('heading', { name: `Queue ${String(timeoutMs)}` }).waitFor();
  const visibleSeconds = (performance.now() - opened) / 1000;
  let percent = 0;
  // Same rate as the service: four events per second for each running download.
  const telling = setInterval(() => {
    percent = (percent + 1) % 100;
    for (let index = 0; index < 3; index += 1) downloads.set(`d${String(index)}`, { percent });
  }, 250);
  const system = await browser.newBrowserCDPSession();
  const before = await rendererSeconds(system);
  await page.evaluate(async (frames) => {
    const list = document.querySelector<HTMLElement>('[role=group][aria-label^=Downloads]');
    if (list === null) throw new Error('there is no list');
    for (let count = 0; count < frames; count += 1) {
      // Fast scrolling: four rows per frame.
      list.scrollTop += 288;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  }, flungFrames);
  const work = (await rendererSeconds(system)) - before;
  clearInterval(telling);
  const rows = timeoutMs.toLocaleString('en');
  return [
    { what: `downloads page with ${rows} rows drawn`, measured: visibleSeconds, unit: 's' },
    {
      what: `work of a frame while ${rows} downloads are flung through (all threads)`,
      measured: (work / flungFrames) * 1000,
      unit: 'ms',
      goal: { at: 'most', value: 50 },
    },
  ];
}

/** Adds rows at the rate of the bench, in steps of 10 ms as over a network. */
async function publishEvents(inbox: MemoryInbox, events: number): Promise<void> {
  const started = performance.now();
  for (let sent = 0; sent < events;) {
    const due = Math.min(events, Math.floor(((performance.now() - started) / 1000) * eventsPerSecond));
    for (; sent < due; sent += 1) {
      inbox.add({
        title: `Disk ${String(sent % 17)} is filling up`,
        body: `${String(sent % 100)} % of 4 TB are in use.`,
      });
    }
    // Measures the memory of the page, not of this process.
    inbox.items.length = Math.min(inbox.items.length, 3000);
    await sleep(10);
  }
}

/** Measures the time until a new row is visible. */
async function caughtUp(page: Page, inbox: MemoryInbox): Promise<void> {
  const { title } = inbox.add({ body: 'The last one for now.' });
  await page.getByText(title, { exact: true }).waitFor({ timeout: 60_000 });
}

/** Requests frames repeatedly, as clicks do, and records the time in ms until each one is drawn. */
function askForFrames(page: Page): { stop(): Promise<readonly number[]> } {
  let isActive = true;
  const waits: number[] = [];
  const done = (async () => {
    while (isActive) {
      waits.push(
        await page.evaluate(
          () =>
            new Promise<number>((resolve) => {
              const requestedAt = performance.now();
              setTimeout(() => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - requestedAt))));
            }),
        ),
      );
      await sleep(50);
    }
  })();
  return {
    async stop() {
      isActive = false;
      await done;
      return waits;
    },
  };
}

/** CPU time of all page processes of the browser, in seconds. */
async function rendererSeconds(system: CDPSession): Promise<number> {
  const { processInfo } = await system.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** JavaScript heap in use after a collection, in MB (10^6 bytes). */
async function heapMegabytes(tools: CDPSession): Promise<number> {
  await tools.send('HeapProfiler.enable');
  await tools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await tools.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}
