import * as gitProblems from '#messages/git-problems';
import * as gitMessages from '#messages/git';
import * as gitCodeMessages from '#messages/git-code';
import * as partsMessages from '#messages/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { anyCount, anyText, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals } from './visit.ts';

describe.skipIf(noBrowser)('repository branches page', () => {
  let fixture: GitFixture;
  beforeAll(async () => {
    fixture = await openGitFixture({ services: [inbox] });
    await fixture.create('fleet');
    const cwd = await fixture.work('fleet');
    const many = Array.from({ length: 40 }, (_, index) => `git branch old/${String(index)} main~1`).join('; ');
    await fixture.run(
      'sh',
      [
        '-c',
        `git commit -q --allow-empty -m 'A hull'; git checkout -q -b topic/sail; git commit -q ` +
          `--allow-empty -m 'A sail'; GIT_COMMITTER_DATE=2035-01-01T00:00:00Z git commit -q --allow-empty ` +
          `-m 'A larger sail, which catches more of the wind than anybody had thought'; ${many}`,
      ],
      { cwd },
    );
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/fleet.git`, 'main'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/fleet.git`, '--all'], { cwd });
    await fixture.api('POST', '/repos/ada/fleet/branch_protections', { rule_name: 'main' });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}, account?: { name: string; password: string }) => {
    const browserPage = await openPage(await getBrowser(), options);
    browserPage.page.setDefaultTimeout(20_000);
    await signIn(browserPage.page.context(), fixture.host.url('control'), account);
    await browserPage.page.goto(`${fixture.host.url('control')}/git/repositories/ada~fleet${path}`);
    return browserPage;
  };
  const names = async (): Promise<string[]> =>
    ((await (await fixture.api('GET', '/repos/ada/fleet/branches?limit=50')).json()) as { name: string }[]).map(
      ({ name }) => name,
    );

  it('lists branches with their distance, creates and deletes them, and undoes it', async () => {
    await using browserPage = await visit('');
    const { page } = browserPage;
    await page.getByRole('link', { name: matching(`${gitCodeMessages.branches()}${anyText}42`) }).click();
    const row = (name: string) =>
      page.getByRole('list', { name: gitMessages.branches() }).getByRole('listitem').filter({ hasText: name });
    await row('topic/sail').getByText('2 commits ahead of main').waitFor();
    expect(
      await page.getByRole('list', { name: gitMessages.branches() }).getByRole('listitem').first().textContent(),
    ).toMatch(/^\s*main.*Protected.*Default/);
    await row('old/20').getByText('1 commit behind').waitFor();
    await page.getByRole('button', { name: gitCodeMessages.showMoreBranches({ total: 42 }) }).click();
    await expect
      .poll(() => page.getByRole('list', { name: gitMessages.branches() }).getByRole('listitem').count())
      .toBe(42);
    await page.getByLabel(gitCodeMessages.searchBranches()).fill('SAIL');
    await expect
      .poll(() => page.getByRole('list', { name: gitMessages.branches() }).getByRole('listitem').count())
      .toBe(1);

    await page.getByRole('button', { name: gitCodeMessages.moreAboutName({ name: 'topic/sail' }) }).click();
    await page.getByRole('menuitem', { name: gitCodeMessages.newBranchFromIt() }).click();
    expect(await page.getByLabel(gitCodeMessages.itBeginsAt()).inputValue()).toBe('topic/sail');
    await page.getByLabel(gitMessages.name(), { exact: true }).fill('topic/sail');
    await page.getByRole('button', { name: gitCodeMessages.makeTheBranch() }).click();
    await page.getByText(gitProblems.branchExists()).waitFor();
    await page.getByLabel(gitMessages.name(), { exact: true }).fill('topic/sailor');
    await page.getByRole('button', { name: gitCodeMessages.makeTheBranch() }).click();
    await row('topic/sailor').getByText('2 commits ahead of main').waitFor();
    expect(await names()).toContain('topic/sailor');

    const remove = async (): Promise<void> => {
      await page.getByRole('button', { name: gitCodeMessages.moreAboutName({ name: 'topic/sailor' }) }).click();
      await page.getByRole('menuitem', { name: gitCodeMessages.remove() }).click();
      await page.getByText(gitCodeMessages.branchRemoved({ branch: 'topic/sailor' })).waitFor();
      await row('topic/sailor').waitFor({ state: 'detached' });
    };
    await remove();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await row('topic/sailor').waitFor();
    expect(await names()).toContain('topic/sailor');
    await remove();
    await expect.poll(names, { timeout: 30_000 }).not.toContain('topic/sailor');
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('lists each branch once when one is pushed while older ones are loaded', async () => {
    await using browserPage = await visit('?show=branches');
    const { page } = browserPage;
    const rows = page.getByRole('list', { name: gitMessages.branches() }).getByRole('listitem');
    await expect.poll(() => rows.count()).toBe(30);
    const before = await names();
    const late = Promise.withResolvers<undefined>();
    await page.route(/\/branches\?/, async (route) => {
      if (route.request().url().includes('offset=30')) {
        const cwd = await fixture.work('later');
        await fixture.git(['fetch', '-q', `${fixture.signedUrl}/ada/fleet.git`, 'main'], { cwd });
        await fixture.run(
          'sh',
          [
            '-c',
            'git checkout -q -b newest FETCH_HEAD; GIT_COMMITTER_DATE=2036-01-01T00:00:00Z git commit -q --allow-empty -m newest',
          ],
          { cwd },
        );
        await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/fleet.git`, 'newest'], { cwd });
      } else await late.promise;
      await route.continue();
    });
    await page
      .getByRole('button', { name: startingWith(gitCodeMessages.showMoreBranches({ total: anyCount })) })
      .click();
    await expect.poll(() => rows.count()).toBe(before.length);
    const linkTexts = await rows.getByRole('link').allTextContents();
    expect(linkTexts.map((text) => text.trim().split(' ')[0]).toSorted()).toEqual(before.toSorted());
    // The notice about the push appears shortly afterwards.
    late.resolve(undefined);
    await rows.filter({ hasText: 'newest' }).first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await fixture.api('DELETE', '/repos/ada/fleet/branches/newest');
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('opens the right branch when a tag or a ref has the same name', async () => {
    await fixture.create('twins');
    const cwd = await fixture.work('twins', { 'which.txt': 'the branch' });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/twins.git`, 'main'], { cwd });
    const make = (which: string, ref: string): string =>
      `echo ${which} > which.txt; git commit -qam '${which}'; git update-ref ${ref} HEAD; git reset -q --hard HEAD~1;`;
    await fixture.run(
      'sh',
      [
        '-c',
        `${make('the-tag', 'refs/tags/main')} ${make('the-inner-one', 'refs/heads/refs/heads/main')} ` +
          `${make('the-dash', 'refs/heads/-dash')}`,
      ],
      { cwd },
    );
    await fixture.git(
      ['push', '-q', `${fixture.signedUrl}/ada/twins.git`, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'],
      { cwd },
    );
    await using browserPage = await visit('');
    const { page } = browserPage;
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~twins?path=which.txt`);
    const chosen = page.getByLabel(gitCodeMessages.branchOrTag());
    const lines = page.getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'which.txt' }) });
    for (const [label, text] of [
      ['refs/heads/main', 'the-inner-one'],
      ['Tag main', 'the-tag'],
      ['-dash', 'the-dash'],
      ['main', 'the branch'],
    ] as const) {
      await chosen.selectOption({ label });
      await lines.getByText(text, { exact: true }).waitFor();
      expect(await page.getByRole('link', { name: gitCodeMessages.edit(), exact: true }).count()).toBe(
        label.startsWith('Tag') ? 0 : 1,
      );
    }
    // All spellings of an address show the same notice.
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~twins?path=which.txt&ref=refs/heads/-dash`);
    await lines.getByText('the-dash', { exact: true }).waitFor();
    expect(await chosen.inputValue()).toBe('-dash');
    // An edited file is committed to the selected branch.
    await chosen.selectOption({ label: 'refs/heads/main' });
    await lines.getByText('the-inner-one', { exact: true }).waitFor();
    await page.getByRole('link', { name: gitCodeMessages.edit(), exact: true }).click();
    await page.getByLabel(gitCodeMessages.text(), { exact: true }).fill('changed there');
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await lines.getByText('changed there').waitFor();
    const read = async (ref: string) => (await fixture.api('GET', `/repos/ada/twins/raw/which.txt?ref=${ref}`)).text();
    expect([await read('refs/heads/main'), await read('refs/heads/refs/heads/main')]).toEqual([
      'the branch',
      'changed there',
    ]);
    expect(besidesRefusals(browserPage.complaints)).toEqual([]);
  });

  it('changes the default branch and keeps the previous one', async () => {
    await using browserPage = await visit('?show=branches');
    const { page } = browserPage;
    await page
      .getByRole('button', { name: gitCodeMessages.moreAboutName({ name: 'topic/sail' }), exact: true })
      .click();
    await page.getByRole('menuitem', { name: gitCodeMessages.makeItTheDefault() }).click();
    await page.getByText(gitCodeMessages.defaultBranchChanged({ branch: 'topic/sail' })).waitFor();
    await expect
      .poll(() => page.getByRole('list', { name: gitMessages.branches() }).getByRole('listitem').first().textContent())
      .toMatch(/^\s*topic\/sail.*Default/);
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect
      .poll(
        async () =>
          ((await (await fixture.api('GET', '/repos/ada/fleet')).json()) as { default_branch: string }).default_branch,
      )
      .toBe('main');
    await page.getByRole('button', { name: gitCodeMessages.moreAboutName({ name: 'main' }) }).click();
    await page.getByRole('menuitem', { name: gitMessages.commits() }).waitFor();
    expect(await page.getByRole('menuitem', { name: gitCodeMessages.remove() }).count()).toBe(0);
  });

  it('offers no changes to accounts that can only read', async () => {
    await fixture.account('bob');
    await using browserPage = await visit('?show=branches', {}, { name: 'bob', password: 'a long password of bob' });
    const { page } = browserPage;
    await page.getByRole('button', { name: gitCodeMessages.moreAboutName({ name: 'topic/sail' }) }).click();
    await page.getByRole('menuitem', { name: gitMessages.commits() }).waitFor();
    expect(await page.getByRole('menuitem').count()).toBe(1);
    expect(await page.getByRole('button', { name: gitCodeMessages.newBranch() }).count()).toBe(0);
    for (const path of ['ada~nowhere', 'ada']) {
      await page.goto(`${fixture.host.url('control')}/git/repositories/${path}`);
      await page.getByRole('heading', { name: gitMessages.repositoryNotFound() }).waitFor();
    }
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('?show=branches', screen);
    const { page } = browserPage;
    await page.getByText('2 commits ahead of main').waitFor();
    await expectFits(browserPage, 'git-branches', screen);
    // The selected tab stays visible when the tabs are wider than the screen.
    const inSight = (name: string) =>
      page
        .getByRole('navigation', { name: gitMessages.repository() })
        .getByRole('link', { name })
        .evaluate((link) => link.getBoundingClientRect().right <= innerWidth && link.getBoundingClientRect().left >= 0);
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~fleet?show=settings`);
    await page.getByText(gitMessages.dangerZone()).waitFor();
    expect(await inSight('Settings')).toBe(true);
    await page.goto(`${fixture.host.url('control')}/git/connect`);
    const tab = page.getByRole('tab', { name: gitMessages.connect() });
    await page.getByText(gitMessages.aTokenForPrograms()).waitFor();
    await expect.poll(() => tab.evaluate((element) => element.getBoundingClientRect().right <= innerWidth)).toBe(true);
  });
});
