import { join } from 'node:path';
import type { Kysely } from 'kysely';
import type { Page } from 'playwright-core';
import { jobsMigrations } from '../../main/host/jobs/jobs.ts';
import { openDatabase } from '../../main/host/database/open.ts';
import { ItemStore } from '../../services/inbox/store/items.ts';
import { migrations } from '../../services/inbox/store/migrations.ts';
import { launchBrowser, openPage, signIn } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { silentLog } from '../support/database-location.ts';
import { inFreshFolder, percentile } from './measure.ts';
import type { BenchOptions } from './run.ts';

const rows = 100_000;
const perCommit = 1000;
const searchWords = ['harbour', 'lamp', 'nightly', 'storage', 'keeper', 'signal', 'backup', 'tide', 'engine', 'beacon'];
const maxResults = 50;

/**
 * Measures the command palette over many messages with all services: the search of the server, and the time until
 * results are on the screen.
 */
export function benchPalette({ quick, print }: BenchOptions): Promise<void> {
  const rounds = quick ? 10 : 30;
  return inFreshFolder(async (folder) => {
    await fill(join(folder, 'inbox'));
    await using host = await startHostProcess(folder);
    const among = `among ${rows.toLocaleString('en')} messages`;
    const one = await searches(host, rounds, buildTitle);
    const many = await searches(host, rounds, (number) => searchWords[number % 10] ?? '');
    const browser = await launchBrowser('whole');
    try {
      await using browserPage = await openPage(browser);
      const { page } = browserPage;
      await signIn(page.context(), host.url('control'));
      await page.goto(host.url('control'));
      await page.getByRole('region', { name: 'Services' }).getByRole('listitem').first().waitFor();
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder('What do you want to do?').waitFor();
      const drawn = await measureSearches(page, rounds);
      print(
        { what: `search of one ${among}, at the server (median)`, measured: percentile(one, 0.5), unit: 'ms' },
        { what: '… p95', measured: percentile(one, 0.95), unit: 'ms' },
        { what: '… of a word that all of them have (p95)', measured: percentile(many, 0.95), unit: 'ms' },
        {
          what: 'palette, from the last letter to the row drawn (median)',
          measured: percentile(drawn, 0.5),
          unit: 'ms',
        },
        { what: '… p95', measured: percentile(drawn, 0.95), unit: 'ms', goal: { at: 'most', value: maxResults } },
      );
    } finally {
      await browser.close();
    }
  });
}

/** Returns the title of a row. Numbers with five digits are not a prefix of other numbers. */
function buildTitle(number: number): string {
  return `${searchWords[number % 10] ?? ''} ${String(number)}`;
}

/** Returns a number with five digits for each round. */
function getNumber(round: number): number {
  return 10_000 + (((round + 1) * 2977) % (rows - 10_000));
}

/** Measures the requests of the palette, one after another. */
async function searches(host: HostProcess, rounds: number, wordsOf: (number: number) => string): Promise<number[]> {
  const times: number[] = [];
  // The first one starts the thread that reads.
  for (let round = -1; round < rounds; round += 1) {
    const address = `${host.url('control')}/api/inbox/search?${new URLSearchParams({ q: wordsOf(getNumber(round)) }).toString()}`;
    const startedAt = performance.now();
    const answer = await fetch(address, { headers: { Authorization: adminAuthorization } });
    const { items } = (await answer.json()) as { items: readonly unknown[] };
    if (round >= 0) times.push(performance.now() - startedAt);
    if (items.length === 0) throw new Error(`nothing is found at ${address}`);
  }
  return times;
}

/** Measures the time until a new message is in the open palette. */
async function measureSearches(page: Page, rounds: number): Promise<number[]> {
  const times: number[] = [];
  // The first one loads the search code of the pages.
  for (let round = -1; round < rounds; round += 1) {
    const time = await page.evaluate(answered, buildTitle(getNumber(round)));
    if (round >= 0) times.push(time);
  }
  return times;
}

/** Types the text in the page and waits for the message that contains it. */
async function answered(query: string): Promise<number> {
  const field = document.querySelector<HTMLInputElement>('dialog input');
  if (field === null) throw new Error('the palette is not open');
  const startedAt = performance.now();
  const isThere = (): boolean =>
    [...document.querySelectorAll('dialog [role=option]')].some(({ textContent }) => textContent.includes(query));
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`"${query}" is not found`)), 10_000);
    const watch = new MutationObserver(() => {
      if (!isThere()) return;
      clearTimeout(late);
      watch.disconnect();
      resolve();
    });
    watch.observe(document.body, { childList: true, subtree: true, characterData: true });
    field.value = query;
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  });
  return performance.now() - startedAt;
}

async function fill(folder: string): Promise<void> {
  await using database = await openDatabase({ folder, schema: 'inbox', log: silentLog });
  await database.migrate([...jobsMigrations, ...migrations]);
  const store = new ItemStore(database.kysely);
  for (let first = 0; first < rows; first += perCommit) {
    const offers = Array.from({ length: perCommit }, (_, index) => {
      const number = first + index;
      return {
        key: `bench:${String(number)}`,
        offer: {
          title: buildTitle(number),
          tags: [],
          body: `The ${searchWords.join(' and the ')} are as they should be.`,
          format: 'text' as const,
          priority: 3,
          source: 'push',
          topic: `topic-${String(number % 50)}`,
          time: Date.now() - (rows - number),
        },
      };
    });
    await database.note((transaction) => store.add(transaction, offers, Date.now()));
  }
  // The last batch of a commit states whether further ones may follow.
  const index = async (transaction: Kysely<any>): Promise<boolean> => {
    for (let batch = 1; batch < 20; batch += 1) await store.itemWords.addNew(transaction);
    return store.itemWords.addNew(transaction);
  };
  while (await database.commit(index));
}
