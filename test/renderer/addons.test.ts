import * as serviceMessages from '#messages/service';
import * as manifestsMessages from '#messages/manifests';
import * as addonsTextsMessages from '#messages/addons-texts';
import * as addonsProblemsMessages from '#messages/addons-problems';
import * as addonsMessages from '#messages/addons';
import * as addonsEditorMessages from '#messages/addons-editor';
import * as addonsRulesMessages from '#messages/addons-rules';
import * as partsMessages from '#messages/parts';
import { readFileSync } from 'node:fs';
import stremio from 'stremio-addon-client';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { alphaStreams, openFakeAddon, type FakeAddon } from '../services/addons/fake-addon.ts';
import { openTorBox, type FakeStore } from '../services/addons/fake-stores.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';
import { anyText, getTagText, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('Addons', () => {
  let browser: Browser;
  let host: TestHost;
  let upstream: FakeAddon;
  let torBox: FakeStore;
  beforeAll(async () => {
    browser = await getBrowser();
    upstream = await openFakeAddon({ streams: alphaStreams });
    torBox = await openTorBox();
  });
  afterAll(async () => {
    await upstream[Symbol.asyncDispose]();
    await torBox[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    host = await openTestHost({
      services: [addons, inbox, control],
      environment: { PROVIDER_H_BASE_URL: torBox.url },
      ...(built ? { pages: built } : {}),
    });
  });
  afterEach(() => host[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), host.url('control'));
    await browserPage.page.goto(`${host.url('control')}${path}`);
    return browserPage;
  };

  /** Expands a section of the configuration. */
  const unfolded = async (page: Page, title: string): Promise<Locator> => {
    const part = page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
    await part.getByRole('button', { name: title, exact: true }).click();
    return part;
  };

  it('creates an addon that the real client installs', async () => {
    await using browserPage = await visit('/addons');
    const { page } = browserPage;
    await page.getByRole('heading', { level: 1, name: addonsMessages.streaming(), exact: true }).waitFor();
    await page.getByRole('button', { name: addonsMessages.makeAConfiguration() }).click();
    await page.getByLabel(addonsEditorMessages.name(), { exact: true }).fill('Living room');

    await page.getByLabel(addonsEditorMessages.kindOfAddon()).selectOption('custom');
    const card = page.locator('section', {
      has: page.getByRole('heading', { name: addonsEditorMessages.addons(), exact: true }),
    });
    await card.getByRole('button', { name: addonsEditorMessages.add() }).click();
    await card.getByLabel(addonsEditorMessages.name(), { exact: true }).fill('Alpha');
    await card.getByLabel(addonsEditorMessages.addressOfItsManifest()).fill('http://127.0.0.1:9/manifest.json');
    await card
      .getByText(
        startingWith(
          addonsProblemsMessages.addonUnreachable({ name: 'Alpha', reason: `${anyText}nothing is listening` }),
        ),
      )
      .waitFor();
    await card.getByLabel(addonsEditorMessages.addressOfItsManifest()).fill(upstream.manifestUrl);
    await card.getByText(addonsTextsMessages.addonWorks({ offers: addonsTextsMessages.streams() })).waitFor();

    await page.getByLabel(addonsEditorMessages.service(), { exact: true }).selectOption('torbox');
    const accounts = page.locator('section', {
      has: page.getByRole('heading', { name: addonsEditorMessages.debridAccounts() }),
    });
    await accounts.getByRole('button', { name: addonsEditorMessages.add() }).click();
    await accounts.getByLabel(addonsTextsMessages.apiKey()).fill('WRONG');
    await accounts.getByRole('button', { name: addonsEditorMessages.test() }).click();
    await accounts.getByText(addonsProblemsMessages.keyRejected({ name: 'TorBox' })).waitFor();
    await accounts.getByLabel(addonsTextsMessages.apiKey()).fill('TBKEY');
    await accounts.getByRole('button', { name: addonsEditorMessages.test() }).click();
    await accounts
      .getByText(
        startingWith(
          addonsTextsMessages.serviceWorksWithPlan({
            details: `ada@example.org, ${addonsTextsMessages.paidPlan()}, ${addonsTextsMessages.planEnd({ date: anyText })}`,
          }),
        ),
      )
      .waitFor();

    await page
      .getByRole('group', { name: addonsRulesMessages.qualitiesToHide() })
      .getByRole('button', { name: 'HDTV' })
      .click();
    await page.getByRole('button', { name: addonsEditorMessages.seeTheResults() }).click();
    await page.getByText('5 shown, 1 hidden.').waitFor();
    await page.getByText(`${addonsTextsMessages.cached()}, 2160p, BluRay REMUX, 60 GB`).first().waitFor();
    await page.getByText(addonsEditorMessages.hiddenAndWhy()).click();
    await page
      .getByText(addonsTextsMessages.removedExcluded({ attribute: addonsRulesMessages.quality(), value: 'HDTV' }))
      .waitFor();

    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    const deep = (await page.getByRole('link', { name: addonsMessages.openInStremio() }).getAttribute('href')) ?? '';
    expect(deep).toMatch(/^stremio:\/\/127\.0\.0\.1:\d+\/stremio\/[0-9a-f-]{36}\/[\w-]+\/manifest\.json$/);
    // A loopback address does not work on a phone: the page links to sharing instead.
    await page
      .getByRole('link', {
        name: getTagText(serviceMessages.shareForCode({ service: manifestsMessages.addonsTitle() }), 'link'),
      })
      .waitFor();
    const { addon } = await stremio.detectFromURL(deep.replace('stremio:', 'http:'));
    expect(addon.manifest.name).toBe('Living room');
    const { streams } = await addon.get('stream', 'movie', 'tt0111161');
    expect(streams.map(({ name }: any) => name)).toContain('[RD+] Alpha 2160p\nDV');

    const parts = page.getByRole('navigation', { name: addonsEditorMessages.partsOfTheConfiguration() });
    await parts.getByRole('button', { name: addonsEditorMessages.format(), exact: true }).click();
    const format = page.getByRole('heading', { name: addonsEditorMessages.format(), exact: true });
    await expect.poll(() => format.evaluate((heading) => heading === document.activeElement)).toBe(true);
    await page.getByLabel(addonsEditorMessages.howStreamsAreWritten()).waitFor();
    expect(await parts.getByRole('button', { name: addonsEditorMessages.format() }).getAttribute('aria-current')).toBe(
      'location',
    );
    // The section is below the sticky header.
    const [head, title] = [
      await page.getByRole('heading', { level: 1, name: 'Living room' }).boundingBox(),
      await format.boundingBox(),
    ];
    expect(head?.y).toBeLessThan(60);
    expect(title?.y ?? 0).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? 0));

    await page.getByRole('link', { name: addonsMessages.configurations(), exact: true }).click();
    await page.locator('dd').getByText('TorBox').waitFor();
    await page.getByRole('button', { name: addonsMessages.moreAboutName({ name: 'Living room' }) }).click();
    await page.getByRole('menuitem', { name: addonsMessages.duplicate() }).click();
    await page
      .getByText(addonsMessages.copyOfName({ name: 'Living room' }))
      .or(page.locator('input[placeholder="Living room (copy)"]'))
      .first()
      .waitFor();
    await page.goto(`${host.url('control')}/addons`);
    await page
      .locator('dd')
      .getByText(/^1\s*last/)
      .waitFor();
    await page.getByRole('heading', { name: addonsMessages.sinceStreamingStarted() }).waitFor();
    await page
      .getByRole('list', { name: addonsMessages.sources() })
      .getByText(startingWith(addonsMessages.addonAnswer({ count: 6 })))
      .waitFor();
    await page
      .getByRole('list', { name: addonsMessages.sources() })
      .getByText(/^Debrid: responds in \d+ ms/)
      .waitFor();
    await page.goto(`${host.url('control')}/addons/configurations`);
    await page
      .getByRole('link', { name: addonsMessages.installNameInAPlayer({ name: 'Living room' }), exact: true })
      .click();
    const chosen = page.getByLabel(addonsMessages.configuration(), { exact: true }).locator('option:checked');
    await expect.poll(() => chosen.textContent()).toBe('Living room');
    // Without clipboard permission the page selects the full address, of which it shows a part.
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));
    });
    await page.getByRole('button', { name: partsMessages.copySubject({ subject: 'the install address' }) }).click();
    await expect
      .poll(() => page.evaluate(() => getSelection()?.toString()))
      .toMatch(/\/stremio\/[0-9a-f-]{36}\/[\w-]+\/manifest\.json$/);
    // The command for scripts does not show the key either, but copies it.
    await page.getByText(/^curl .*\/stremio\/[0-9a-f]{4}…\/stream\/movie\/tt0111161\.json$/).waitFor();
    await page
      .getByRole('button', {
        name: partsMessages.copySubject({
          subject: partsMessages.lineSubject({ description: addonsMessages.theStreamsOfAFilm() }),
        }),
      })
      .click();
    const command = (await page.getByText(/^curl .*[0-9a-f-]{36}.*tt0111161\.json$/).textContent()) ?? '';
    const listed = (await (await fetch(command.replace(/^curl /, ''))).json()) as { streams: unknown[] };
    expect(listed.streams).toHaveLength(5);
    await page.goto(`${host.url('control')}/addons/services`);
    await page
      .locator('dd')
      .getByText(/^\d+ ms$/)
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: 'Living room', exact: true }).getAttribute('href')).toMatch(
      /^\/addons\/configurations\/[0-9a-f-]{36}$/,
    );
    // The wrong key was among the requests and causes no others.
    await page.locator('dd').getByText(matching(addonsMessages.errorAtWorksAgain())).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  const makeConfiguration = async (overrides: object): Promise<string> => {
    const created = await fetch(`${host.url('control')}/api/addons/profiles`, {
      method: 'POST',
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        config: { formatter: { id: 'gdrive' }, sortCriteria: { global: [] }, presets: [], ...overrides },
      }),
    });
    return ((await created.json()) as { uuid: string }).uuid;
  };
  const preset = (instanceId: string, name: string): object => ({
    type: 'custom',
    instanceId,
    enabled: true,
    options: { name, manifestUrl: upstream.manifestUrl },
  });
  const saved = async (uuid: string): Promise<any> => {
    const response = await fetch(`${host.url('control')}/api/addons/profiles/${uuid}`, {
      headers: { authorization: adminAuthorization },
    });
    return ((await response.json()) as { config: any }).config;
  };

  it('edits filters, order and limits, and explains in the preview what each dropped', async () => {
    const uuid = await makeConfiguration({
      presets: [preset('a1', 'Alpha')],
      preferredRegexPatterns: [{ name: 'Remux', pattern: 'remux', score: 3 }],
      somethingElse: { kept: true },
    });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    const filters = await unfolded(page, 'Filters');
    const part = async (title: string) => {
      await filters.getByText(title, { exact: true }).click();
      return filters.locator('details', { has: page.getByText(title) });
    };
    const resolution = await part('Resolution');
    const chips = (verb: string) => resolution.getByRole('group', { name: verb });
    await chips('Hide').getByRole('button', { name: '720p' }).click();
    await chips('Prefer, in this order').getByRole('button', { name: '1080p' }).click();
    await chips('Prefer, in this order').getByRole('button', { name: '2160p' }).click();
    await filters.getByText('Hides 720p · prefers 1080p, 2160p').waitFor();
    const keywords = await part(addonsRulesMessages.wordsInTheName());
    await keywords.getByLabel(addonsRulesMessages.hide()).fill('eee\nsomething else');
    const rating = await part('Age rating and nudity');
    await rating.getByLabel(addonsRulesMessages.ageRatingsToHide()).fill('R');
    await rating.getByRole('button', { name: 'severe' }).click();

    await page.getByText(addonsRulesMessages.theOrderInDetail()).click();
    await page
      .getByLabel(addonsRulesMessages.sortBy(), { exact: true })
      .selectOption(addonsRulesMessages.resolutionPhrase());
    await page.getByRole('button', { name: addonsRulesMessages.sortByIt() }).click();
    await page.getByLabel(addonsRulesMessages.sortBy(), { exact: true }).selectOption(addonsRulesMessages.sizePhrase());
    await page.getByRole('button', { name: addonsRulesMessages.sortByIt() }).click();
    await page.getByRole('button', { name: partsMessages.moveItem({ name: 'Size' }), exact: true }).press('ArrowUp');
    await page.getByLabel(addonsRulesMessages.directionOfTitle({ title: 'Size' })).selectOption('asc');

    await unfolded(page, 'Sizes and limits');
    await page.getByText(addonsRulesMessages.atLeastAndAtMost()).click();
    await page.getByLabel('Movie size, at most, GB').fill('50');
    await page.getByText(addonsRulesMessages.howManyAreListed()).click();
    await page.getByLabel(addonsRulesMessages.altogether()).fill('9');
    await page.getByText(addonsRulesMessages.furtherChoices()).click();
    await page.getByLabel(addonsRulesMessages.hideWholeSeasons()).check();

    await page.getByRole('button', { name: addonsEditorMessages.seeTheResults() }).click();
    await page.getByText('3 shown, 3 hidden.').waitFor();
    await page.getByText(addonsEditorMessages.hiddenAndWhy()).click();
    for (const why of [
      addonsTextsMessages.removedExcluded({ attribute: addonsRulesMessages.resolution(), value: '720p' }),
      addonsTextsMessages.removedExcluded({ attribute: addonsRulesMessages.wordsInTheName(), value: 'eee' }),
      addonsTextsMessages.removedTooLarge(),
    ])
      await page.getByText(why).waitFor();

    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    const config = await saved(uuid);
    expect(config).toMatchObject({
      excludedResolutions: ['720p'],
      preferredResolutions: ['1080p', '2160p'],
      excludedKeywords: ['eee', 'something else'],
      preferredRegexPatterns: [{ name: 'Remux', pattern: 'remux', score: 3 }],
      excludedCertifications: ['R'],
      excludeNudity: ['severe'],
      sortCriteria: {
        global: [
          { key: 'size', direction: 'asc' },
          { key: 'resolution', direction: 'desc' },
        ],
      },
      size: { global: { movies: [0, 50e9] } },
      resultLimits: { global: 9 },
      excludeSeasonPacks: true,
      somethingElse: { kept: true },
    });
    expect(config.titleMatching).toBeUndefined();
    expect(browserPage.complaints).toEqual([]);
  });

  it('hides, renames and moves catalogs as players list them', async () => {
    await using lists = await openFakeAddon({
      manifest: {
        id: 'l',
        name: 'L',
        version: '1.0.0',
        types: ['movie'],
        resources: ['catalog'],
        catalogs: ['Top', 'New', 'Old'].map((name) => ({ type: 'movie', id: name, name })),
      },
    });
    const uuid = await makeConfiguration({
      presets: [{ ...preset('l1', 'Lists'), options: { name: 'Lists', manifestUrl: lists.manifestUrl } }],
    });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    await unfolded(page, 'Catalogs');
    await page.getByRole('button', { name: addonsEditorMessages.listTheCatalogs() }).click();
    await page.getByLabel(addonsEditorMessages.nameOfCatalog({ name: 'New' })).fill('Fresh');
    await page.getByLabel(addonsEditorMessages.nameOfCatalog({ name: 'New' })).blur();
    await page.getByRole('button', { name: partsMessages.moveItem({ name: 'Fresh' }), exact: true }).focus();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('checkbox', { name: addonsEditorMessages.showName({ name: 'Old' }) }).uncheck();
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    const deep = (await page.getByRole('link', { name: addonsMessages.openInStremio() }).getAttribute('href')) ?? '';
    const { addon } = await stremio.detectFromURL(deep.replace('stremio:', 'http:'));
    expect(addon.manifest.catalogs.map(({ name }: any) => name)).toEqual(['Fresh', 'Top']);
    expect(browserPage.complaints).toEqual([]);
  });

  it('keeps unsaved changes while other pages are visited, and discards them on request', async () => {
    const torz = { type: 'stremthruTorz', instanceId: 't1', enabled: false, options: {} };
    const uuid = await makeConfiguration({ addonName: 'Kept', presets: [preset('a1', 'Alpha'), torz] });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
    const card = page.locator('section', {
      has: page.getByRole('heading', { name: addonsEditorMessages.addons(), exact: true }),
    });
    // The other addon needs no address, even under the alias of an imported configuration.
    await card.locator('li').getByText('StremThru Torz').waitFor();
    expect(await card.getByText(addonsEditorMessages.addressAndMore()).count()).toBe(1);
    expect(await page.getByText(addonsEditorMessages.notSavedYet()).count()).toBe(0);
    await page.getByRole('button', { name: addonsEditorMessages.saved(), exact: true }).waitFor();
    const name = page.getByLabel(addonsEditorMessages.name(), { exact: true });
    await page.getByRole('button', { name: addonsEditorMessages.rename() }).click();
    await name.fill('Changed');
    await page.getByText(addonsEditorMessages.notSavedYet()).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Changed' }).waitFor();
    const save = page.getByRole('button', { name: addonsEditorMessages.save(), exact: true });
    expect(await save.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
    await page.getByRole('link', { name: addonsMessages.configurations(), exact: true }).click();
    await page.getByRole('link', { name: addonsMessages.changeName({ name: 'Kept' }) }).click();
    await page.getByText(addonsEditorMessages.notSavedYet()).waitFor();
    expect(await name.inputValue()).toBe('Changed');
    await page.getByRole('button', { name: addonsEditorMessages.discard() }).click();
    await page.getByText(addonsEditorMessages.notSavedYet()).waitFor({ state: 'detached' });
    expect(await name.inputValue()).toBe('Kept');
    expect(browserPage.complaints).toEqual([]);
  });

  it('reorders addons by keyboard and by dragging, and updates the format example while typing', async () => {
    const uuid = await makeConfiguration({ presets: ['One', 'Two', 'Three'].map((name) => preset(name, name)) });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    const card = page.locator('section', {
      has: page.getByRole('heading', { name: addonsEditorMessages.addons(), exact: true }),
    });
    const names = async (): Promise<string[]> => await card.locator('li .switch > span:last-child').allInnerTexts();
    await card
      .getByText(addonsTextsMessages.addonWorks({ offers: addonsTextsMessages.streams() }))
      .nth(2)
      .waitFor();
    await card.getByRole('button', { name: partsMessages.moveItem({ name: 'One' }), exact: true }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await names()).toEqual(['Two', 'Three', 'One']);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
      partsMessages.moveItem({ name: 'One' }),
    );
    const handleBox = await card
      .getByRole('button', { name: partsMessages.moveItem({ name: 'One' }), exact: true })
      .boundingBox();
    const first = await card.locator('li').first().boundingBox();
    if (handleBox === null || first === null) throw new Error('not drawn');
    await page.mouse.move(handleBox.x + 10, handleBox.y + 10);
    await page.mouse.down();
    await page.mouse.move(first.x + 10, first.y + 40, { steps: 12 });
    await page.mouse.move(first.x + 10, first.y + 5, { steps: 3 });
    await page.mouse.up();
    await vi.waitFor(async () => expect(await names()).toEqual(['One', 'Two', 'Three']));
    // A drag is not a click. A click, as from a screen reader on a touch screen, asks for the position.
    expect(await page.getByRole('menu').count()).toBe(0);
    const handle = card.getByRole('button', { name: partsMessages.moveItem({ name: 'One' }), exact: true });
    await handle.click();
    expect(await page.getByRole('menuitem').allInnerTexts()).toEqual([
      partsMessages.moveDown(),
      partsMessages.moveToTheEnd(),
    ]);
    await page.getByRole('menuitem', { name: partsMessages.moveToTheEnd() }).click();
    expect(await names()).toEqual(['Two', 'Three', 'One']);
    await page.getByRole('menu').waitFor({ state: 'detached' });
    expect(await handle.evaluate((button) => button === document.activeElement)).toBe(true);
    await handle.press('Enter');
    await page.getByRole('menuitem', { name: partsMessages.moveToTheTop() }).press('Enter');
    await vi.waitFor(async () => expect(await names()).toEqual(['One', 'Two', 'Three']));

    const one = card.locator('li', {
      has: page.getByRole('button', { name: partsMessages.moveItem({ name: 'One' }), exact: true }),
    });
    await one.getByText(addonsEditorMessages.more()).click();
    await one.getByLabel(addonsEditorMessages.waitAtMostInSeconds()).fill('2.5');
    await one
      .getByRole('group', { name: addonsEditorMessages.streamsOnlyFor() })
      .getByRole('button', { name: addonsEditorMessages.films() })
      .click();
    await one.getByLabel(addonsEditorMessages.placeOfItsStreams()).selectOption('top');
    await one.getByLabel(addonsEditorMessages.itsOwnTextsStay()).check();

    await unfolded(page, 'Format');
    await page.getByLabel(addonsEditorMessages.howStreamsAreWritten()).selectOption('custom');
    await page.getByLabel(addonsEditorMessages.leftColumn()).fill('{stream.resolution}!');
    const samples = page.getByRole('list', { name: addonsEditorMessages.example() });
    await samples.getByText('2160p!').first().waitFor();
    // A problem is listed with its position; a click selects it in the text.
    const description = page.locator('#format-description');
    await description.fill('{stream.filename}\n{stream.syze}');
    await page
      .getByRole('button', { name: addonsEditorMessages.unknownField({ line: 2, column: 2, name: 'stream.syze' }) })
      .click();
    expect(
      await description.evaluate((input: HTMLTextAreaElement) =>
        input.value.slice(input.selectionStart, input.selectionEnd),
      ),
    ).toBe('stream.syze');
    // A shared format replaces the texts, and does not save the configuration.
    await page.getByRole('button', { name: addonsEditorMessages.importFormat() }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(addonsEditorMessages.formatText()).fill('{nonsense');
    await dialog.getByRole('button', { name: addonsEditorMessages.useFormat() }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    const shared = { definition: { name: '{stream.resolution}!', description: 'Shared {stream.size::bytes}' } };
    await dialog.getByLabel(addonsEditorMessages.formatText()).fill(JSON.stringify(shared));
    await dialog.getByRole('button', { name: addonsEditorMessages.useFormat() }).click();
    await dialog.waitFor({ state: 'detached' });
    await samples
      .getByText(/^Shared 60/)
      .first()
      .waitFor();
    await page.getByLabel(addonsEditorMessages.startFrom()).selectOption('compact');
    await expect.poll(() => description.inputValue()).toContain('stream.visualTags');
    await page.getByLabel(addonsEditorMessages.leftColumn()).fill('{stream.resolution}!');
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    const { formatter, presets } = await saved(uuid);
    const savedNames = [formatter.definitions.custom.name, ...presets.map(({ options }: any) => options.name)];
    expect(savedNames).toEqual(['{stream.resolution}!', 'One', 'Two', 'Three']);
    expect(presets[0].options).toMatchObject({
      timeout: 2500,
      mediaTypes: ['movie'],
      pinPosition: 'top',
      formatPassthrough: true,
    });
    expect(browserPage.complaints.filter((line) => !line.includes('422'))).toEqual([]);
  });

  it('shows the problem of each expression and updates the preview after every change', async () => {
    const uuid = await makeConfiguration({
      presets: [preset('a1', 'Alpha')],
      excludedStreamExpressions: ["quality(streams, 'HDTV')"],
      rankedRegexPatterns: [{ name: 'Remux', pattern: 'remux', score: 5, note: 'kept' }],
    });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    await page.getByRole('button', { name: addonsEditorMessages.seeTheResults() }).click();
    await page.getByText('5 shown, 1 hidden.').waitFor();
    const card = await unfolded(page, addonsRulesMessages.rulesOfYourOwn());
    await card.getByText(addonsRulesMessages.hide(), { exact: true }).click();
    const hide = card.getByRole('list', { name: addonsRulesMessages.hide(), exact: true });
    await card.getByRole('button', { name: addonsRulesMessages.addAnExpression() }).click();
    const second = hide.getByRole('textbox', { name: 'Hide, expression 2' });
    await second.fill('resolution(streams');
    await hide.getByText(addonsProblemsMessages.textMissing({ text: ')' })).waitFor();
    expect(await second.getAttribute('aria-invalid')).toBe('true');
    await second.fill("resolution(streams, '1080p')");
    await page.getByText('3 shown, 3 hidden.').waitFor();
    await hide.getByText(addonsProblemsMessages.textMissing({ text: ')' })).waitFor({ state: 'detached' });
    await hide.getByRole('button', { name: partsMessages.moveItem({ name: 'expression 2' }), exact: true }).focus();
    await page.keyboard.press('ArrowUp');
    await hide.getByRole('checkbox', { name: addonsRulesMessages.useName({ name: 'expression 2' }) }).uncheck();
    await page.getByText('4 shown, 2 hidden.').waitFor();

    await card.getByText(addonsRulesMessages.scoresByExpressions(), { exact: true }).click();
    const ranked = card.getByRole('list', { name: addonsRulesMessages.scoresByExpressions() });
    await ranked.getByRole('spinbutton').fill('7');
    await ranked
      .getByRole('textbox', {
        name: `${addonsRulesMessages.scoresByExpressions()}, ${addonsRulesMessages.expressionNumber({ number: 1 })}`,
      })
      .fill('rem(ux');
    await ranked.getByText(startingWith(addonsProblemsMessages.patternSyntaxInvalid({ reason: anyText }))).waitFor();
    await ranked
      .getByRole('textbox', {
        name: `${addonsRulesMessages.scoresByExpressions()}, ${addonsRulesMessages.expressionNumber({ number: 1 })}`,
      })
      .fill('remux|web');

    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    const config = await saved(uuid);
    expect(config.excludedStreamExpressions).toEqual([
      { expression: "resolution(streams, '1080p')", enabled: true },
      { expression: "quality(streams, 'HDTV')", enabled: false },
    ]);
    expect(config.rankedRegexPatterns).toEqual([{ name: 'Remux', pattern: 'remux|web', score: 7, note: 'kept' }]);
    expect(config.includedStreamExpressions).toBeUndefined();
    expect(browserPage.complaints).toEqual([]);
  });

  it('creates groups, merged catalogs and variants that players receive', async () => {
    await using lists = await openFakeAddon({
      manifest: {
        id: 'l',
        name: 'L',
        version: '1.0.0',
        types: ['movie'],
        resources: ['stream', 'catalog'],
        catalogs: ['Top', 'New', 'Old'].map((name) => ({ type: 'movie', id: name, name })),
      },
      streams: [{ name: 'Late', url: 'http://h.example/late.mkv', behaviorHints: { filename: 'Late.2019.mkv' } }],
    });
    const uuid = await makeConfiguration({
      presets: [
        preset('a1', 'Alpha'),
        { ...preset('l1', 'Lists'), options: { name: 'Lists', manifestUrl: lists.manifestUrl } },
      ],
    });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    await page.getByRole('button', { name: addonsEditorMessages.seeTheResults() }).click();
    await page.getByText('7 shown, 0 hidden.').waitFor();
    const groups = await unfolded(page, addonsRulesMessages.groupsOfAddons());
    await groups.getByRole('button', { name: addonsRulesMessages.addAGroup() }).click();
    await groups.getByRole('button', { name: addonsRulesMessages.addAGroup() }).click();
    await groups
      .getByRole('group', { name: addonsRulesMessages.addonsOfName({ name: 'group 2' }) })
      .getByRole('button', { name: 'Lists' })
      .click();
    const condition = groups.getByLabel(addonsRulesMessages.listedWhere());
    await condition.fill('count(previousStreams)');
    await groups.getByText(addonsProblemsMessages.conditionNotBoolean()).waitFor();
    await condition.fill('count(previousStreams) < 3');
    await page.getByText('6 shown, 0 hidden.').waitFor();

    const merged = await unfolded(page, 'Merged catalogs');
    await merged.getByRole('button', { name: addonsEditorMessages.mergeCatalogs() }).click();
    await merged.getByLabel(addonsEditorMessages.nameOfCatalog({ name: 'merged catalog 1' })).fill('Both');
    const parts = merged.getByRole('group', { name: addonsEditorMessages.itsCatalogsInThisOrder() });
    await parts.getByRole('button', { name: 'New (Lists, movies)' }).click();
    await parts.getByRole('button', { name: 'Top (Lists, movies)' }).click();
    await merged.getByLabel(addonsEditorMessages.order()).selectOption('interleave');

    const variants = await unfolded(page, 'Variants for devices');
    await variants.getByRole('button', { name: addonsRulesMessages.addAVariant() }).click();
    await variants.getByLabel(addonsRulesMessages.itsWordInTheAddress()).fill('Phone!');
    await variants.getByText(addonsRulesMessages.useSmallLettersDigitsAnd()).waitFor();
    await variants.getByLabel(addonsRulesMessages.itsWordInTheAddress()).fill('phone');
    await variants.getByLabel(addonsRulesMessages.changes()).fill('set resultLimits.global');
    await variants
      .getByText(startingWith(addonsProblemsMessages.variantInvalid({ id: 'phone', problem: anyText })))
      .waitFor();
    await variants.getByLabel(addonsRulesMessages.changes()).fill('set resultLimits.global = 2');
    await variants
      .getByText(startingWith(addonsProblemsMessages.variantInvalid({ id: 'phone', problem: anyText })))
      .waitFor({ state: 'detached' });

    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    expect(await saved(uuid)).toMatchObject({
      groups: {
        enabled: true,
        behaviour: 'parallel',
        groupings: [
          { addons: [], condition: '' },
          { addons: ['l1'], condition: 'count(previousStreams) < 3' },
        ],
      },
      mergedCatalogs: [
        {
          id: 'aiostreams.merged.list1',
          name: 'Both',
          type: 'movie',
          mergeMethod: 'interleave',
          catalogIds: ['id=l1e3b0.New&type=movie', 'id=l1e3b0.Top&type=movie'],
        },
      ],
      variants: [{ id: 'phone', enabled: true, script: 'set resultLimits.global = 2' }],
    });
    const phone = (await variants.locator('code').textContent()) ?? '';
    expect(phone).toMatch(/\/v\/phone\/manifest\.json$/);
    const { addon } = await stremio.detectFromURL(phone);
    expect(addon.manifest.catalogs.map(({ name }: any) => name)).toEqual(['Both', 'Old']);
    expect((await addon.get('stream', 'movie', 'tt0111161')).streams).toHaveLength(2);
    expect(browserPage.complaints).toEqual([]);
  });

  it('inherits from a parent, exports a file without keys and imports it on another host', async () => {
    const keys = {
      services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }],
      tmdbApiKey: 'TMDBKEY',
    };
    await makeConfiguration({ addonName: 'Family', presets: [preset('a1', 'Alpha')], ...keys });
    const uuid = await makeConfiguration({ addonName: 'Own', ...keys });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    const inherits = await unfolded(page, addonsEditorMessages.takesOverFrom());
    await inherits.getByLabel(addonsMessages.configuration()).selectOption('Family');
    await inherits.getByText(addonsEditorMessages.partByPart()).click();
    await inherits.getByLabel(addonsEditorMessages.debridAccounts()).selectOption('override');
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    const config = await saved(uuid);
    expect(config.parentConfig.mergeStrategies).toEqual({
      sorting: 'inherit',
      formatter: 'inherit',
      services: 'override',
    });
    const deep = (await page.getByRole('link', { name: addonsMessages.openInStremio() }).getAttribute('href')) ?? '';
    const { addon } = await stremio.detectFromURL(deep.replace('stremio:', 'http:'));
    expect((await addon.get('stream', 'movie', 'tt0111161')).streams).toHaveLength(6);

    const exchange = await unfolded(page, 'Export and import');
    const exported = async (): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        exchange.getByRole('button', { name: addonsEditorMessages.exportLabel(), exact: true }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    const minimalExport = await exported();
    expect(JSON.parse(minimalExport)).toMatchObject({
      addonName: 'Own',
      services: [{ id: 'torbox', credentials: {} }],
    });
    for (const secret of ['TBKEY', 'TMDBKEY', config.parentConfig.password])
      expect(minimalExport).not.toContain(secret);
    await exchange.getByLabel(addonsEditorMessages.withKeysAndPasswords()).check();
    expect(await exported()).toContain('TMDBKEY');
    await exchange.getByLabel(addonsEditorMessages.importLabel(), { exact: true }).selectOption('merge');
    await exchange.getByLabel(addonsEditorMessages.fileToImport()).setInputFiles({
      name: 'x.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ addonName: 'Merged' })),
    });
    await page.getByText(addonsEditorMessages.theConfigurationIsTakenOver()).waitFor();
    expect(await saved(uuid)).toMatchObject({ addonName: 'Merged', tmdbApiKey: 'TMDBKEY' });
    expect(browserPage.complaints).toEqual([]);
  });

  it('configures posters with ratings and the metadata key', async () => {
    const uuid = await makeConfiguration({ addonName: 'Posters', tmdbApiKey: 'TMDBKEY' });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    const card = await unfolded(page, addonsEditorMessages.postersAndFacts());
    await card.getByLabel(addonsEditorMessages.postersWithRatings()).selectOption('Rating Poster Database');
    await card.getByLabel(addonsRulesMessages.key(), { exact: true }).fill('RPDBKEY');
    await card.getByLabel(addonsEditorMessages.alsoInTheLibraryAnd()).check();
    await card.getByLabel(addonsEditorMessages.showNoStreamsOfWhat()).check();
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await page.getByText(addonsEditorMessages.savedWhatIsInstalledGoes()).waitFor();
    expect(await saved(uuid)).toMatchObject({
      posterService: 'rpdb',
      rpdbApiKey: 'RPDBKEY',
      usePosterServiceForMeta: true,
      tmdbApiKey: 'TMDBKEY',
      digitalReleaseFilter: { enabled: true },
    });
    await card.getByLabel(addonsEditorMessages.keyOfTheMovieDatabase()).fill('');
    await card
      .getByLabel(addonsEditorMessages.postersWithRatings())
      .selectOption(addonsRulesMessages.noAsTheAddonsHave());
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await expect.poll(async () => (await saved(uuid)).posterService).toBe('none');
    expect((await saved(uuid)).tmdbApiKey).toBe(null);
    expect(browserPage.complaints).toEqual([]);
  });

  it('inherits the poster service of the parent or uses none', async () => {
    await makeConfiguration({ addonName: 'Family', posterService: 'rpdb', rpdbApiKey: 'RPDBKEY' });
    const uuid = await makeConfiguration({ addonName: 'Own' });
    await using browserPage = await visit(`/addons/configurations/${uuid}`);
    const { page } = browserPage;
    await unfolded(page, addonsEditorMessages.postersAndFacts());
    await unfolded(page, addonsEditorMessages.takesOverFrom());
    const posters = page.getByLabel(addonsEditorMessages.postersWithRatings());
    expect(await posters.inputValue()).toBe('none');
    await page.getByLabel(addonsMessages.configuration(), { exact: true }).selectOption('Family');
    await expect.poll(() => posters.inputValue()).toBe('');
    await posters.selectOption(addonsRulesMessages.noAsTheAddonsHave());
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await expect.poll(async () => (await saved(uuid)).posterService).toBe('none');
    await posters.selectOption(addonsEditorMessages.asTheOtherConfigurationHas());
    await page.getByRole('button', { name: addonsEditorMessages.save() }).click();
    await expect.poll(async () => (await saved(uuid)).posterService).toBe(null);
    await posters.selectOption('Rating Poster Database');
    await page.getByText(addonsEditorMessages.whoeverHasTheInstallAddress()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('lists addons without a request on the overview', async () => {
    await makeConfiguration({ addonName: 'New', presets: [preset('q1', 'Quiet')] });
    await using browserPage = await visit('/addons');
    const quiet = browserPage.page
      .getByRole('list', { name: addonsMessages.sources() })
      .getByRole('listitem')
      .filter({ hasText: 'Quiet' });
    await quiet.getByText(addonsMessages.addonNotAskedForStreams()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('navigates sections by a select field on a phone and keeps name and Save visible', async () => {
    const uuid = await makeConfiguration({ addonName: 'Pocket', presets: [preset('a1', 'Alpha')] });
    await using browserPage = await visit(`/addons/configurations/${uuid}`, screens[0]);
    const { page } = browserPage;
    await page.getByLabel(addonsEditorMessages.partOfTheConfiguration()).selectOption(addonsEditorMessages.format());
    await page.getByLabel(addonsEditorMessages.howStreamsAreWritten()).selectOption('custom');
    await page.getByRole('button', { name: addonsEditorMessages.save(), exact: true }).click({ trial: true });
    const name = page.getByRole('heading', { level: 1, name: 'Pocket' });
    expect((await name.boundingBox())?.y).toBeLessThan(60);
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits $on, in both themes', async (screen) => {
    const headers = {
      authorization: `Basic ${Buffer.from('ada:correct horse battery').toString('base64')}`,
      'content-type': 'application/json',
    };
    const preset = {
      type: 'custom',
      instanceId: 'a1',
      enabled: true,
      options: { name: 'Alpha', manifestUrl: upstream.manifestUrl },
    };
    const config = {
      addonName: 'Living room',
      presets: [preset],
      services: [{ id: 'torbox', enabled: true, credentials: { apiKey: 'TBKEY' } }],
      formatter: { id: 'gdrive' },
      sortCriteria: { global: [{ key: 'cached' }] },
      excludedQualities: ['HDTV'],
      excludedStreamExpressions: ['resolution(streams'],
      rankedRegexPatterns: [{ name: 'Remux', pattern: 'remux', score: 5 }],
      groups: {
        enabled: true,
        groupings: [{ addons: ['a1'] }, { addons: [], condition: 'count(previousStreams)' }],
      },
      variants: [{ id: 'phone', name: 'Phone', script: 'set resultLimits.global = 2' }],
      mergedCatalogs: [{ id: 'm', name: 'Everything new', type: 'movie', catalogIds: ['id=a1e3b0.new&type=movie'] }],
    };
    const created = await fetch(`${host.url('control')}/api/addons/profiles`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ config }),
    });
    const { uuid } = (await created.json()) as { uuid: string };
    await using browserPage = await visit(`/addons/configurations/${uuid}`, screen);
    const { page } = browserPage;
    await page.getByText(addonsTextsMessages.addonWorks({ offers: addonsTextsMessages.streams() })).waitFor();
    await page.getByRole('button', { name: addonsEditorMessages.seeTheResults() }).click();
    await page.getByText(/5 shown/).waitFor();
    await page.getByText(addonsEditorMessages.hiddenAndWhy()).click();
    for (const title of [
      'Filters',
      'Sizes and limits',
      'Format',
      addonsEditorMessages.postersAndFacts(),
      'Merged catalogs',
      'Export and import',
    ])
      await unfolded(page, title);
    for (const title of [
      'Resolution',
      'Age rating and nudity',
      addonsRulesMessages.theOrderInDetail(),
      addonsRulesMessages.atLeastAndAtMost(),
      addonsRulesMessages.howManyAreListed(),
      addonsRulesMessages.furtherChoices(),
      addonsRulesMessages.scoresByExpressions(),
    ])
      await page.getByText(title, { exact: true }).first().click();
    await expectFits(browserPage, 'addons-configuration', screen);
    await page.goto(`${host.url('control')}/addons/configurations`);
    await page.locator('dd').getByText('TorBox').waitFor();
    await expectFits(browserPage, 'addons', screen);
    await page.goto(`${host.url('control')}/addons`);
    await page.getByText(addonsMessages.nobodyHasAskedForStreams()).waitFor();
    await expectFits(browserPage, 'addons-overview', screen);
    await page.goto(`${host.url('control')}/addons/connect`);
    await page.getByRole('link', { name: addonsMessages.openInStremio() }).waitFor();
    await expectFits(browserPage, 'addons-connect', screen);
  });
});
