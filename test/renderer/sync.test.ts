import * as problems from '#messages/sync-problems';
import * as causes from '#messages/sync-causes';
import * as syncMessages from '#messages/sync';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commonKinds } from '../../renderer/src/pages/sync/remotes/remote-kinds.ts';
import type { SyncProvider } from '../../services/contracts/sync/remotes.ts';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { lacksRclone, openSyncFixture, until, type SyncFixture } from '../services/sync/sync-fixture.ts';
import { openProvider } from '../services/sync/oauth-provider.ts';
import { tree } from '../services/sync/trees.ts';
import { anyCount, anyText, containing, matching } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser || lacksRclone)('Sync', () => {
  let fixture: SyncFixture;
  let [done, held, failed, slow] = [0, 0, 0, 0];

  const save = async (name: string, fields: object): Promise<number> =>
    (await fixture.api('POST', '/api/sync/tasks', { name, mode: 'sync', retries: 0, notify: 'never', ...fields })).id;
  const end = async (job: number) =>
    until(
      () => fixture.api('GET', `/api/sync/jobs/${String(job)}`),
      ({ job: finished }) => finished.endedAt !== null,
    );
  const run = async (task: number): Promise<number> => {
    const { id } = await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
    await end(id);
    return id;
  };

  beforeAll(async () => {
    fixture = await openSyncFixture({ services: [inbox] });
    const old = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`archive/2019/photo ${String(index)}.jpg`, 'x'.repeat(index)]),
    );
    fixture.write({ ...old, 'photos/2026/harbour.jpg': 'light', 'photos/2026/lamp.jpg': 'lamp', 'music/a.flac': 'a' });
    const source = (name: string) => `${fixture.folder}/${name}`;
    const weekly = {
      source: source('music'),
      destination: source('backup/music'),
      cron: '30 3 * * 0',
      zone: 'Europe/Berlin',
    };
    done = await run(await save('Music to the second disk', weekly));
    held = await save('Photos', { source: source('photos'), destination: source('archive'), keepReplaced: true });
    await run(held);
    mkdirSync(source('bad/x'), { recursive: true });
    fixture.write({ 'bad/x/y': '1', 'worse/x': 'in the way' });
    failed = await run(await save('Papers', { mode: 'copy', source: source('bad'), destination: source('worse') }));
    mkdirSync(source('films'));
    for (const name of ['a harbour at night.mkv', 'b.mkv']) {
      writeFileSync(join(source('films'), name), '');
      truncateSync(join(source('films'), name), 400_000_000);
    }
    const nightly = { cron: '30 2 * * *', zone: 'Europe/Berlin' };
    slow = await save('Films', {
      ...nightly,
      mode: 'copy',
      source: source('films'),
      destination: source('copy of films'),
    });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    await browserPage.page.getByRole('heading', { level: 1 }).waitFor();
    return browserPage;
  };

  /** Selects a kind of remote in the picker. */
  const chooseKind = async (page: Page, type: string): Promise<void> => {
    await page.getByRole('combobox', { name: syncMessages.whereAreTheFiles() }).fill(type);
    await page.keyboard.press('Enter');
  };

  /** Returns the title of a detail page, with the elements beside it. */
  const titled = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).locator('..');

  it('creates a sync, previews it and runs it', async () => {
    fixture.write({ 'notes/a.txt': 'a', 'notes/b.txt': 'b', 'mirror/gone.txt': 'x' });
    await using browserPage = await visit('/sync');
    const { page } = browserPage;
    await page.getByRole('button', { name: syncMessages.newSync() }).click();
    await page.getByLabel(syncMessages.name()).fill('Notes');
    await page.getByLabel(syncMessages.from()).fill('somewhere');
    await page.getByLabel(syncMessages.to(), { exact: true }).fill(`${fixture.folder}/mirror`);
    await page.getByLabel(syncMessages.whatItDoes()).selectOption('sync');
    await page.getByLabel(syncMessages.when()).selectOption('day');
    await page.getByLabel(syncMessages.at(), { exact: true }).fill('04:15');
    await page.getByRole('button', { name: syncMessages.save(), exact: true }).click();
    await page.getByText(containing(problems.locationInvalid({ folder: anyText }))).waitFor();
    await page.getByLabel(syncMessages.from()).fill(`${fixture.folder}/mirror`);
    await page.getByRole('button', { name: syncMessages.chooseSource() }).click();
    const picker = page.getByRole('dialog', { name: syncMessages.chooseAFolder() });
    await picker.getByText(syncMessages.noFoldersInIt()).waitFor();
    await picker.getByRole('button', { name: syncMessages.up() }).click();
    await picker.getByRole('button', { name: 'notes' }).click();
    await picker.getByRole('button', { name: syncMessages.useThisFolder() }).click();
    expect(await page.getByLabel(syncMessages.from()).inputValue()).toBe(`${fixture.folder}/notes`);
    await page.getByRole('button', { name: syncMessages.save(), exact: true }).click();
    await page.getByRole('heading', { name: 'Notes' }).waitFor();
    await page.getByText(syncMessages.everyDayAtTime({ time: '04:15' })).waitFor();
    await page.getByText(matching(syncMessages.nextRunAt({ time: `${anyText}04:15` }))).waitFor();
    await page.getByRole('button', { name: syncMessages.preview() }).click();
    await page.getByRole('radio', { name: 'Delete 1' }).waitFor();
    await page.getByText('gone.txt').waitFor();
    expect(tree(join(fixture.folder, 'mirror'))).toEqual({ 'gone.txt': 'x' });
    await page.getByRole('button', { name: syncMessages.runAndDelete({ count: 1 }) }).click();
    await page.getByRole('link', { name: /2 files copied.* 1 deleted .*Done/ }).waitFor();
    expect(tree(join(fixture.folder, 'mirror'))).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
  });

  it('explains why a run failed, with the original message', async () => {
    const missingFolder = `${fixture.folder}/stick`;
    mkdirSync(missingFolder);
    const task = await save('Stick', { source: missingFolder, destination: `${fixture.folder}/of the stick` });
    rmSync(missingFolder, { recursive: true });
    await run(task);
    const message = causes.folderMissing({ folder: missingFolder });
    await using browserPage = await visit('/sync');
    const { page } = browserPage;
    await page.getByRole('list', { name: syncMessages.needsYou() }).getByText(message).waitFor();
    await page
      .getByRole('list', { name: syncMessages.needsYou() })
      .getByRole('button', { name: /^Try again.*Stick/ })
      .waitFor();
    const latest = page.getByRole('list', { name: syncMessages.jobs() }).getByRole('link', { name: /^Stick .*Failed/ });
    await latest.waitFor();
    expect(await latest.getByText(message).count()).toBe(0);
    await page.getByRole('list', { name: syncMessages.needsYou() }).getByRole('link', { name: /Stick/ }).click();
    await page.getByRole('alert').getByText(message).waitFor();
    expect(await page.getByText('directory not found').isVisible()).toBe(false);
    await page.getByText(syncMessages.originalMessage()).click();
    await page.getByText('directory not found').waitFor();
    await page.getByRole('button', { name: syncMessages.chooseAnotherFolder() }).click();
    await page.getByRole('dialog', { name: syncMessages.editTheSync() }).getByLabel(syncMessages.from()).waitFor();
    await page.goto(`${fixture.host.url('control')}/sync/history`);
    await page
      .getByRole('list', { name: syncMessages.jobs() })
      .getByRole('link', { name: /^Stick .*Failed/ })
      .waitFor();
    const papers = page.getByRole('list', { name: syncMessages.jobs() }).getByRole('link', { name: /^Papers / });
    await papers.getByText(/x\/y: .* or part of its path is a file/).waitFor();
    await page.goto(`${fixture.host.url('control')}/sync/history/${String(failed)}`);
    await page
      .getByText(containing(causes.folderNeeded({ path: anyText })))
      .first()
      .waitFor();
    await page.goto(`${fixture.host.url('control')}/sync/syncs/${String(task)}`);
    await page.getByRole('button', { name: syncMessages.runAgain() }).waitFor();
    expect(await page.getByRole('button', { name: syncMessages.pause() }).count()).toBe(0);
    await page.getByRole('button', { name: syncMessages.editName({ name: 'or remove' }) }).click();
    await page.getByRole('button', { name: syncMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: syncMessages.removeQuestion() }).click();
    await page
      .getByRole('list', { name: syncMessages.savedSyncs() })
      .getByRole('link', { name: /^Music/ })
      .waitFor();
    await page.getByRole('link', { name: /Stick/ }).waitFor({ state: 'detached' });
  });

  it('runs a saved sync from the list', async () => {
    const { tasks } = await fixture.api('GET', '/api/sync');
    const { id } = tasks.find(({ name }: { name: string }) => name.startsWith('Music'));
    const readJobs = () => fixture.api('GET', `/api/sync/jobs?task=${String(id)}`);
    const before = (await readJobs()).items.length;
    await using browserPage = await visit('/sync/syncs');
    await browserPage.page.getByRole('button', { name: /^Run now.*Music/ }).click();
    const { items } = await until(readJobs, (jobs) => jobs.items.length > before);
    expect(items).toHaveLength(before + 1);
    await end(items[0].id);
    expect(browserPage.complaints).toEqual([]);
  });

  it('retries a failed run from its page', async () => {
    const missingFolder = `${fixture.folder}/card`;
    mkdirSync(missingFolder);
    const task = await save('Card', { source: missingFolder, destination: `${fixture.folder}/of the card` });
    rmSync(missingFolder, { recursive: true });
    const first = await run(task);
    fixture.write({ 'card/a.jpg': 'a' });
    await using browserPage = await visit(`/sync/history/${String(first)}`);
    const { page } = browserPage;
    await titled(page, 'Card').getByText(syncMessages.failed(), { exact: true }).waitFor();
    await page.getByRole('button', { name: syncMessages.runAgain() }).click();
    await titled(page, 'Card').getByText(syncMessages.done(), { exact: true }).waitFor();
    await page.getByText(/^1 file copied/).waitFor();
    expect(await page.getByRole('button', { name: syncMessages.runAgain() }).count()).toBe(0);
    await fixture.api('DELETE', `/api/sync/tasks/${String(task)}`);
  });

  it('shows the result of a run under the name of its sync', async () => {
    await using browserPage = await visit(`/sync/history/${String(done)}`);
    const { page } = browserPage;
    await titled(page, 'Music to the second disk').getByText(syncMessages.done(), { exact: true }).waitFor();
    await page.getByText(/^1 file copied · 1 B/).waitFor();
    await page.getByRole('heading', { name: syncMessages.didChange({ actions: '1 added' }) }).waitFor();
    await page.getByText(syncMessages.planCountsBefore({ source: 1, destination: 0 })).waitFor();
    expect(await page.getByText(syncMessages.filesThatFailed()).count()).toBe(0);
    await page.getByRole('link', { name: syncMessages.toTheSavedSync() }).click();
    await page.getByRole('link', { name: /1 file copied/ }).waitFor();
  });

  it('browses folders with breadcrumbs, and reports unreadable ones', async () => {
    await using browserPage = await visit('/sync/files');
    const { page } = browserPage;
    await page.getByRole('link', { name: syncMessages.thisComputer() }).waitFor();
    await page.goto(
      `${fixture.host.url('control')}/sync/files?at=${encodeURIComponent(`${fixture.folder}/photos/2026`)}`,
    );
    await page.getByText(syncMessages.fileCountAndSize({ count: 2, size: '9 B' })).waitFor();
    const way = page.getByRole('navigation', { name: syncMessages.path() });
    await way.getByRole('link', { name: 'photos' }).click();
    await page.getByText(syncMessages.folderCount({ count: 1 })).waitFor();
    await page.getByLabel(syncMessages.folder()).fill(`${fixture.folder}/nowhere`);
    await page.getByRole('button', { name: syncMessages.open() }).click();
    await page.getByText(causes.folderMissing({ folder: `${fixture.folder}/nowhere` })).waitFor();
    await page.getByRole('button', { name: syncMessages.tryAgain() }).waitFor();
  });

  it('shows the progress of a job, and pauses it', async () => {
    await fixture.call('core/bwlimit', { rate: '4M' });
    await using browserPage = await visit(`/sync/syncs/${String(slow)}`);
    const { page } = browserPage;
    await page.getByRole('button', { name: syncMessages.runNow() }).click();
    await page.getByText(/of 800 MB/).waitFor();
    await page.getByText('a harbour at night.mkv').waitFor();
    await page
      .getByRole('img', { name: containing(syncMessages.upToSpeed({ speed: anyCount })) })
      .or(page.getByText(/MB\/s/).first())
      .first()
      .waitFor();
    await expectFits(browserPage, 'sync-running', screens[0] ?? ({} as never));
    await page.getByRole('button', { name: syncMessages.pause(), exact: true }).click();
    await page.getByText(syncMessages.stopped()).first().waitFor();
    await fixture.call('core/bwlimit', { rate: 'off' });
    await page.getByRole('button', { name: syncMessages.resume(), exact: true }).click();
    await page.getByText(syncMessages.lastRunWorked(), { exact: true }).waitFor();
    rmSync(join(fixture.folder, 'copy of films'), { recursive: true });
  });

  it('shows a command that copies between the locations of a saved sync', async () => {
    await using browserPage = await visit('/sync/connect');
    const curlCommand = browserPage.page.getByText(/^curl .*\/sync\/copy$/);
    await expect.poll(() => curlCommand.textContent()).toContain(fixture.folder);
    const command = (await curlCommand.textContent()) ?? '';
    const body = /-d '(.*)' /.exec(command)?.[1] ?? '';
    const { srcFs, dstFs } = JSON.parse(body) as { srcFs: string; dstFs: string };
    expect([srcFs, dstFs].every((remotePath) => remotePath.startsWith(fixture.folder))).toBe(true);
    expect((await fixture.call('sync/copy', JSON.parse(body) as object)).body).toMatchObject({
      jobid: expect.any(Number),
    });
  });

  it('finds a kind of remote by name with the keyboard, and keeps the form when it is changed', async () => {
    await using browserPage = await visit('/sync/remotes');
    const { page } = browserPage;
    await page.getByRole('button', { name: syncMessages.addARemote() }).click();
    const search = page.getByRole('combobox', { name: syncMessages.whereAreTheFiles() });
    await search.waitFor();
    const options = page.getByRole('option');
    expect(await options.count()).toBeGreaterThan(40);
    await expect.poll(() => options.first().innerText()).toContain(syncMessages.smbTitle());
    await page.getByRole('group', { name: syncMessages.groupObjectStorage() }).waitFor();
    await search.fill('nextc');
    await expect.poll(() => options.count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByLabel(syncMessages.name(), { exact: true }).fill('cloud');
    await page.getByRole('button', { name: syncMessages.changeKind() }).click();
    await search.fill('sftp');
    await expect.poll(() => options.first().innerText()).toContain(syncMessages.aboutSftp());
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByLabel(syncMessages.name(), { exact: true }).inputValue()).toBe('cloud');
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('shows the picker of kinds on $on', async (screen) => {
    await using browserPage = await visit('/sync/remotes?add=1', screen);
    const { page } = browserPage;
    await page.getByRole('option').first().waitFor();
    await expectFits(browserPage, 'sync-remote-kinds', screen);
  });

  it('creates a remote with the form of its provider, and browses it', async () => {
    await using browserPage = await visit('/sync/remotes');
    const { page } = browserPage;
    await page.getByRole('button', { name: syncMessages.addARemote() }).click();
    await chooseKind(page, 'alias');
    await page.getByLabel(syncMessages.name(), { exact: true }).fill('nas');
    await page.getByLabel(syncMessages.folder(), { exact: true }).fill(`${fixture.folder}/photos`);
    await page.getByRole('button', { name: syncMessages.addIt() }).click();
    await page.getByRole('link', { name: 'nas' }).click();
    await page.getByRole('button', { name: '2026' }).click();
    await page.getByText('harbour.jpg').waitFor();
    await page.getByRole('button', { name: syncMessages.up(), exact: true }).click();
    await page.getByRole('button', { name: '2026' }).waitFor();
  });

  it('edits a remote with its stored values, and deletes it', async () => {
    const parameters = { remote: `${fixture.folder}/photos` };
    await fixture.api('POST', '/api/sync/remotes', { name: 'moved', type: 'alias', parameters });
    await using browserPage = await visit('/sync/remotes');
    const { page } = browserPage;
    await page.getByRole('button', { name: syncMessages.editName({ name: 'moved' }) }).click();
    const folder = page.getByLabel(syncMessages.folder(), { exact: true });
    await expect.poll(() => folder.inputValue()).toBe(`${fixture.folder}/photos`);
    await folder.fill(':sftp,ssh="touch x":');
    await page.getByRole('button', { name: syncMessages.save() }).click();
    await page.getByText(problems.commandNotAllowed()).waitFor();
    await folder.fill(`${fixture.folder}/photos/2026`);
    await page.getByRole('button', { name: syncMessages.save() }).click();
    await page.getByText(syncMessages.remoteChanged({ name: 'moved' })).waitFor();
    await page.getByRole('link', { name: 'moved' }).click();
    await page.getByText('harbour.jpg').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: syncMessages.editName({ name: 'moved' }) }).click();
    await page.getByRole('button', { name: syncMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: syncMessages.removeQuestion() }).click();
    await page.getByRole('link', { name: 'moved' }).waitFor({ state: 'detached' });
    // A secret that is not shown stays, unless it is to be forgotten.
    await fixture.call('config/create', {
      name: 'shed',
      type: 'webdav',
      parameters: { url: 'http://127.0.0.1:1', user: 'ada', pass: 'reeds' },
      opt: { obscure: true },
    });
    await page.reload();
    await page.getByRole('button', { name: syncMessages.editName({ name: 'shed' }) }).click();
    const password = page.getByLabel(syncMessages.password(), { exact: false }).first();
    await expect.poll(() => password.getAttribute('placeholder')).toBe(syncMessages.secretStays());
    await page.getByLabel(containing(syncMessages.forgetNamed({ label: 'Password' }))).check();
    const patchRequest = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: syncMessages.save() }).click();
    expect((await patchRequest).postDataJSON()).toEqual({ parameters: { pass: '' } });
    await page.getByText(causes.connectionRefused()).waitFor();
    await fixture.api('DELETE', '/api/sync/remotes/shed');
    expect(browserPage.complaints.filter((line) => !line.includes('422'))).toEqual([]);
  });

  it('uses only fields that rclone declares for the common kinds', async () => {
    const { providers } = (await fixture.api('GET', '/api/sync/providers')) as { providers: SyncProvider[] };
    const missingFields = commonKinds.flatMap(([type, , fields]) => {
      const fieldNames = providers.find((entry) => entry.type === type)?.fields.map(({ name }) => name);
      return fieldNames === undefined
        ? [type]
        : fields.filter((name) => !fieldNames.includes(name)).map((name) => `${type} ${name}`);
    });
    expect(commonKinds.length).toBeGreaterThan(10);
    expect(missingFields).toEqual([]);
  });

  it('signs in to a provider in the browser', async () => {
    await using provider = await openProvider();
    await using browserPage = await visit('/sync/remotes');
    const { page } = browserPage;
    await page.getByRole('button', { name: syncMessages.addARemote() }).click();
    await chooseKind(page, 'drive');
    await page.getByText(syncMessages.signInHint()).waitFor();
    await page.getByLabel(syncMessages.name(), { exact: true }).fill('cloud');
    await page.getByRole('dialog').getByText(syncMessages.more(), { exact: true }).click();
    await page.getByRole('button', { name: matching(syncMessages.showRareFields({ count: anyCount })) }).click();
    for (const [field, value] of Object.entries(provider.parameters)) {
      const label = field.slice(0, 1).toUpperCase() + field.slice(1).replaceAll('_', ' ');
      await page.getByLabel(syncMessages.optionalField({ label }), { exact: true }).fill(value);
    }
    await page.getByRole('button', { name: syncMessages.addIt() }).click();
    await page.getByText(syncMessages.whereToSignIn()).waitFor();
    await expectFits(browserPage, 'sync-sign-in', screens[0] ?? ({} as never));
    await page.getByRole('button', { name: syncMessages.goOn() }).click();
    await page.getByRole('link', { name: syncMessages.openSignIn() }).click();
    // The engine decides the last content of the popup, and may close the connection before it is written.
    await page.getByText('Configure this as a Shared Drive').waitFor();
    await page.getByRole('button', { name: syncMessages.goOn() }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'cloud' }).waitFor();
    await fixture.api('DELETE', '/api/sync/remotes/cloud');
  });

  it('keeps a remote whose configuration was finished in another window when it is cancelled here', async () => {
    await fixture.api('POST', '/api/sync/remotes', { name: 'shared', type: 'yandex', parameters: {} });
    await using browserPage = await visit('/sync/remotes');
    const { page } = browserPage;
    await page.getByRole('button', { name: matching(syncMessages.resumeSetup({ name: 'shared' })) }).click();
    await page.getByText(syncMessages.whereToSignIn()).waitFor();
    const token = JSON.stringify({ access_token: 'x', token_type: 'bearer', expiry: '2099-01-01T00:00:00Z' });
    for (const answer of ['false', token]) await fixture.api('POST', '/api/sync/remotes/shared/setup', { answer });
    await page.keyboard.press('Escape');
    await page.getByText(problems.setupEnded()).waitFor();
    await page.getByRole('link', { name: 'shared' }).waitFor();
    await fixture.api('DELETE', '/api/sync/remotes/shared');
  });

  it.each(screens)('fits and is accessible on $on', async (screen) => {
    const { plan } = await fixture.api(
      'GET',
      `/api/sync/jobs/${String((await fixture.api('GET', `/api/sync/jobs?task=${String(held)}`)).items[0].id)}`,
    );
    expect(plan.deletes.files).toBe(60);
    for (const [name, path, ready] of [
      ['overview', '/sync', syncMessages.needsYou()],
      ['syncs', '/sync/syncs', 'Music to the second disk'],
      ['held', `/sync/syncs/${String(held)}`, syncMessages.runAndDelete({ count: 60 })],
      ['history', '/sync/history', 'Music to the second disk'],
      ['done', `/sync/history/${String(done)}`, syncMessages.didChange({ actions: '1 added' })],
      ['failed', `/sync/history/${String(failed)}`, 'Files that failed'],
      ['files', `/sync/files?at=${encodeURIComponent(fixture.folder)}`, 'photos'],
      ['connect', '/sync/connect', syncMessages.whoMaySyncWhat()],
      ['remotes', '/sync/remotes', 'Folder'],
      ['add', '/sync?add=1', syncMessages.tellMe()],
    ] as const) {
      await using browserPage = await visit(path, screen);
      await browserPage.page.getByText(ready).filter({ visible: true }).first().waitFor();
      await expectFits(browserPage, `sync-${name}`, screen);
    }
  });
});
