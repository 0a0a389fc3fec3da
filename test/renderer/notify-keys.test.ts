import * as notifyTexts from '#messages/notify-texts';
import * as notifyProblems from '#messages/notify-problems';
import * as notifyMessages from '#messages/notify';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { anyText, containing, startingWith } from '../support/message-patterns.ts';
import { closeToasts } from './toasts.ts';
import { besidesRefusals } from './visit.ts';
import { dropText, openRealServices, type RealServices } from './real-services.ts';

describe.skipIf(noBrowser)('a configuration key', () => {
  let real: RealServices;
  beforeEach(async () => {
    real = await openRealServices();
  });
  afterEach(() => real[Symbol.asyncDispose]());

  const readOptions = async (key: string) =>
    (await real.ask('GET', '/notify/keys')).keys.find((entry: { key: string }) => entry.key === key).options;

  it('applies its options, also in the playground and for senders', async () => {
    await real.ask('POST', '/notify/keys/aggregator/destinations', { url: 'push://hall', tags: ['night'] });
    await using browserPage = await real.visit('/delivery/keys');
    const { page } = browserPage;
    await page.getByText(notifyMessages.wouldGetIt({ count: 3, total: 3 })).waitFor();
    await page.getByRole('radio', { name: notifyMessages.onlyTheUntagged() }).check();
    await page.getByText(notifyMessages.wouldGetIt({ count: 2, total: 3 })).waitFor();
    await page.getByRole('switch', { name: notifyMessages.tellTheSenderOfFailures() }).click();
    await page.getByText(notifyMessages.onEachDestinationIsTried()).waitFor();
    await page.getByLabel(notifyMessages.repeatedNotifications()).selectOption(notifyMessages.leaveOutWithinHour());
    await page.getByText(notifyMessages.openToPrograms()).waitFor();
    await page.getByRole('switch', { name: notifyMessages.closedToPrograms() }).click();
    await page.getByText(notifyMessages.administratorOnlyHelp()).waitFor();
    const chosen = { withoutTag: 'untagged', strict: true, repeatSeconds: 3600, closed: true };
    await expect.poll(() => readOptions('aggregator')).toEqual(chosen);
    await page.getByRole('button', { name: notifyMessages.setASecret() }).click();
    await page.getByRole('textbox', { name: notifyMessages.secret() }).fill('short');
    await page.getByRole('button', { name: notifyMessages.keepTheSecret() }).click();
    await page.getByText(notifyProblems.secretTooShort()).waitFor();
    await page.getByRole('textbox', { name: notifyMessages.secret() }).fill('sesame-sesame');
    await page.getByRole('button', { name: notifyMessages.keepTheSecret() }).click();
    await page.getByText(notifyMessages.fromNowOnOnlySigned()).waitFor();
    expect((await real.post('aggregator', 'x')).status).toBe(401);
    expect(await page.content()).not.toContain('sesame-sesame');
    await page.getByRole('button', { name: notifyMessages.takeEverythingAgain() }).click();
    await page.getByText(notifyMessages.itsSecretIsGoneEveryone()).waitFor();
    await page.reload();
    expect(
      await page.getByRole('switch', { name: notifyMessages.tellTheSenderOfFailures() }).getAttribute('aria-checked'),
    ).toBe('true');
    expect(await page.getByRole('radio', { name: notifyMessages.onlyTheUntagged() }).isChecked()).toBe(true);
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('shows the selected option when an older list arrives later', async () => {
    await using browserPage = await real.visit('/delivery/keys');
    const { page } = browserPage;
    const strict = page.getByRole('switch', { name: notifyMessages.tellTheSenderOfFailures() });
    await strict.waitFor();
    const requested = Promise.withResolvers<undefined>();
    const chosen = Promise.withResolvers<undefined>();
    await page.route(
      /api\/notify\/keys$/,
      async (route) => {
        const before = await route.fetch();
        requested.resolve(undefined);
        await chosen.promise;
        await route.fulfill({ response: before });
      },
      { times: 1 },
    );
    await real.post('aggregator', 'Something happens');
    await requested.promise;
    await strict.click();
    await expect.poll(async () => (await readOptions('aggregator')).strict).toBe(true);
    await page.getByText(notifyMessages.onEachDestinationIsTried()).waitFor();
    const second = page.waitForResponse(/api\/notify\/keys$/);
    chosen.resolve(undefined);
    await second;
    await page.getByText(notifyMessages.wouldGetIt({ count: 2, total: 2 })).waitFor();
    expect(await strict.getAttribute('aria-checked')).toBe('true');
  });

  it('keeps the result of a test at its destination', async () => {
    await real.ask('POST', '/notify/keys', { key: 'two', text: 'push://hall\ninbox://\n' });
    await using browserPage = await real.visit('/delivery/keys/two');
    const { page } = browserPage;
    const rows = page.getByRole('list', { name: notifyMessages.destinations(), exact: true }).getByRole('listitem');
    await rows
      .first()
      .getByRole('button', { name: startingWith(notifyMessages.testDestination({ service: anyText, line: anyText })) })
      .click();
    await rows
      .first()
      .getByText(containing(notifyMessages.testArrived({ duration: anyText })))
      .waitFor();
    await rows
      .first()
      .getByRole('button', {
        name: startingWith(notifyMessages.moreForServiceInLine({ service: anyText, line: anyText })),
      })
      .click();
    await page.getByRole('menuitem', { name: notifyMessages.remove() }).click();
    const countKeys = async (): Promise<number> =>
      (await real.ask('GET', '/notify/keys')).keys.find(({ key }: { key: string }) => key === 'two').destinations
        .length;
    await expect.poll(() => closeToasts(page).then(countKeys)).toBe(1);
    await page.getByText(notifyMessages.wouldGetIt({ count: 1, total: 1 })).waitFor();
    expect(await rows.getByText(containing(notifyMessages.testArrived({ duration: anyText }))).count()).toBe(0);
  });

  it('deletes removed entries when the page is closed', async () => {
    await real.ask('POST', '/notify/keys', { key: 'gone', text: 'inbox://\n' });
    await using browserPage = await real.visit('/delivery/keys/gone');
    const { page } = browserPage;
    await page.getByRole('button', { name: notifyMessages.moreForKey({ key: 'gone' }) }).click();
    await page.getByRole('menuitem', { name: notifyMessages.removeTheKey() }).click();
    await page.getByText(notifyMessages.theKeyKeyIsRemoved({ key: 'gone' })).waitFor();
    await page.goto('about:blank');
    const names = async () => (await real.ask('GET', '/notify/keys')).keys.map(({ key }: { key: string }) => key);
    await expect.poll(names).not.toContain('gone');
  });

  it('tries levels one after another, and the playground shows it', async () => {
    const text = '0:night=push://hall\n1:night=push://attic\nalways=inbox://\n';
    await real.ask('POST', '/notify/keys', { key: 'steps', text });
    await using browserPage = await real.visit('/delivery/keys/steps');
    const { page } = browserPage;
    await page.getByText(notifyMessages.wouldGetIt({ count: 3, total: 3 })).waitFor();
    await page.getByText(notifyMessages.whoIsTaggedAlwaysGets()).waitFor();
    await page.getByRole('button', { name: 'night', exact: true }).click();
    await page.getByText(notifyTexts.tagSelectedAtLevel({ count: 1, tags: 'night', level: 1 })).waitFor();
    await page.getByText(notifyTexts.alwaysSelected()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows a thousand destinations, and finds the recipients of a notification', async () => {
    const text = Array.from({ length: 1000 }, (_, index) => `t${String(index)}=push://topic-${String(index)}`).join(
      '\n',
    );
    await real.ask('POST', '/notify/keys', { key: 'crowd', text });
    await using browserPage = await real.visit('/delivery/keys/crowd');
    const { page } = browserPage;
    await page.getByText(notifyMessages.wouldGetIt({ count: 1000, total: 1000 })).waitFor();
    await page.getByRole('textbox', { name: notifyMessages.tags() }).fill('t999');
    await page.getByText(notifyMessages.wouldGetIt({ count: 1, total: 1000 })).waitFor();
    await page.getByText(notifyTexts.tagSelected({ count: 1, tags: 't999' })).waitFor();
    const rows = page.getByRole('list', { name: notifyMessages.destinations(), exact: true }).getByRole('listitem');
    expect(await rows.count()).toBe(50);
    await page.getByRole('button', { name: notifyMessages.showMore() }).first().click();
    await expect.poll(() => rows.count()).toBe(100);
    await page.getByRole('searchbox', { name: notifyMessages.searchTheDestinations() }).fill('topic-777');
    await expect.poll(() => rows.count()).toBe(1);
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows how each configuration line is handled, offers tags once, and exports it', async () => {
    await using browserPage = await real.visit('/delivery/keys', { clipboard: true });
    const { page } = browserPage;
    await page.getByRole('button', { name: notifyMessages.newKey() }).click();
    const dialog = page.getByRole('dialog', { name: notifyMessages.newKey() });
    await dialog.getByRole('textbox', { name: notifyMessages.name() }).fill('house');
    const text = 'inbox://\n# a comment\nnight=json://bob:sesame@127.0.0.1:9/x\nnonsense\nfoo://bar\n';
    await dropText(page, 'dialog textarea', 'apprise.txt', text);
    await dialog.getByText(notifyMessages.destinationsTakenAndSkipped({ count: 2, skipped: 2 })).waitFor();
    const lines = dialog.getByRole('list', { name: notifyMessages.whatBecomesOfEachLine() }).getByRole('listitem');
    const texts = await lines.allTextContents();
    expect(texts.map((line) => line.replace(/\s+/g, ' ').trim())).toEqual([
      expect.stringMatching(/^Line 1 .*inbox/),
      expect.stringMatching(/^Line 3 JSON night .*bob:\*{4}@127/),
      `Line 4 Ignored: ${notifyProblems.lineNotADestination()}`,
      `Line 5 Ignored: ${notifyProblems.schemeUnsupported({ scheme: 'foo' })}`,
    ]);
    await dialog.getByRole('radio', { name: startingWith(notifyMessages.untaggedOption()) }).check();
    await dialog.getByRole('button', { name: notifyMessages.makeTheKey() }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => readOptions('house')).toMatchObject({ withoutTag: 'untagged' });
    await page.getByText(notifyMessages.wouldGetIt({ count: 1, total: 2 })).waitFor();
    await page.getByRole('button', { name: notifyMessages.moreForKey({ key: 'house' }) }).click();
    await page.getByRole('menuitem', { name: notifyMessages.exportLabel() }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: notifyMessages.saveAsAFile() }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('house.txt');
    expect(await readFile(await file.path(), 'utf8')).toBe(text);
    expect(await page.content()).not.toContain('sesame');
    expect(browserPage.complaints).toEqual([]);
  });
});
