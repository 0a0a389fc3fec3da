import * as gitMessages from '#messages/git';
import * as gitCodeMessages from '#messages/git-code';
import * as gitIssuesMessages from '#messages/git-issues';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { anyCount, anyText, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const script = Array.from({ length: 40 }, (_, index) => `print(${index + 1})`).join('\n') + '\n';

describe.skipIf(noBrowser)('repository pages', () => {
  let fixture: GitFixture;
  let commit = '';
  beforeAll(async () => {
    fixture = await openGitFixture({ services: [inbox] });
    const bob = await fixture.account('bob', [{ service: 'git', resource: 'ada/buoy', permission: 'read-write' }]);
    await fixture.create('buoy');
    const cwd = await fixture.work('buoy', { 'README.md': '# Buoy\n', 'ring.py': script, 'site.css': 'a { b: c }\n' });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/buoy.git`, 'main'], { cwd });
    commit = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    await fixture.api('POST', '/repos/ada/buoy/issues', { title: 'It rings at night', body: 'Every hour.' });
    await fixture.api('POST', '/repos/ada/buoy/issues/1/comments', { body: 'Here too.' }, bob);
    await fixture.api('POST', '/repos/ada/buoy/issues/1/reactions', { content: '+1' }, bob);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    return browserPage;
  };

  it('shows the share of each language', async () => {
    await using browserPage = await visit('/git/repositories/ada~buoy');
    const { page } = browserPage;
    const languages = page.getByRole('list', { name: gitCodeMessages.languages() });
    await languages.getByText('Python').waitFor();
    expect(await languages.getByRole('listitem').allTextContents()).toEqual(['Python 97.3%', 'CSS 2.7%']);
  });

  it('opens a file by the key t and a part of its name', async () => {
    await using browserPage = await visit('/git/repositories/ada~buoy');
    const { page } = browserPage;
    await page.getByRole('link', { name: /ring\.py/ }).waitFor();
    await page.keyboard.press('t');
    await page.getByRole('option', { name: 'site.css' }).waitFor();
    await page.getByRole('combobox', { name: gitCodeMessages.goToFilePrompt() }).fill('rgpy');
    await page.getByRole('option', { name: 'site.css' }).waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'ring.py' }) }).waitFor();
    expect(new URL(page.url()).searchParams.get('path')).toBe('ring.py');
  });

  it('links to marked lines of a version', async () => {
    await using browserPage = await visit('/git/repositories/ada~buoy?path=ring.py');
    const { page } = browserPage;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const file = page.getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'ring.py' }) });
    const numbers = file.locator('.numbers');
    const { height } = (await numbers.boundingBox()) ?? { height: 0 };
    const getPosition = (line: number) => ({ x: 10, y: 4 + ((height - 8) / 40) * (line - 0.5) });
    await numbers.click({ position: getPosition(3) });
    await expect.poll(() => new URL(page.url()).hash).toBe('#L3');
    await numbers.click({ position: getPosition(7), modifiers: ['Shift'] });
    await expect.poll(() => new URL(page.url()).hash).toBe('#L3-L7');
    await page.getByRole('button', { name: gitCodeMessages.copyPermalink() }).click();
    await page.getByText(gitCodeMessages.permalinkCopied()).waitFor();
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    expect([link.searchParams.get('ref'), link.searchParams.get('path'), link.hash]).toEqual([
      ...[commit, 'ring.py', '#L3-L7'],
    ]);
    await page.keyboard.press('y');
    await page.waitForURL(link.href);
    await file.waitFor();
  });

  it('adds and removes reactions to an issue and a comment', async () => {
    await using browserPage = await visit('/git/repositories/ada~buoy?show=issues&number=1');
    const { page } = browserPage;
    const issue = page.getByRole('article').filter({ hasText: 'Every hour.' });
    const getReaction = (accounts: string) =>
      issue.getByRole('button', {
        name: gitIssuesMessages.reactionOfAccounts({ reaction: gitIssuesMessages.thumbsUp(), accounts }),
      });
    await getReaction('bob').click();
    await getReaction('bob and ada').waitFor();
    const comment = page.getByRole('article').filter({ hasText: 'Here too.' });
    await comment.getByRole('button', { name: gitIssuesMessages.addAReaction() }).click();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await comment.getByRole('button', { name: startingWith(`${gitIssuesMessages.eyes()}: ada`) }).waitFor();
    const reactions: unknown = await (await fixture.api('GET', '/repos/ada/buoy/issues/1/reactions')).json();
    expect(reactions).toMatchObject([
      { content: '+1', user: { login: 'bob' } },
      { content: '+1', user: { login: 'ada' } },
    ]);
    await getReaction('bob and ada').click();
    await getReaction('bob').waitFor();
  });

  it('lists the issues that refer to an issue', async () => {
    await fixture.api('POST', '/repos/ada/buoy/issues', { title: 'Quieter bell', body: 'As #1 asks.' });
    await using browserPage = await visit('/git/repositories/ada~buoy?show=issues&number=1');
    const { page } = browserPage;
    await page.getByRole('link', { name: 'Quieter bell #2' }).click();
    await page.getByRole('heading', { name: 'Quieter bell #2' }).waitFor();
    const timeline: unknown = await (await fixture.api('GET', '/repos/ada/buoy/issues/1/timeline')).json();
    expect(timeline).toContainEqual(
      expect.objectContaining({
        type: 'issue_ref',
        ref_action: 'none',
        ref_issue: expect.objectContaining({ number: 2, title: 'Quieter bell' }),
      }),
    );
  });

  it('formats a comment with the toolbar and the keyboard', async () => {
    await using browserPage = await visit('/git/repositories/ada~buoy?show=issues&number=1');
    const { page } = browserPage;
    const field = page.getByLabel(gitIssuesMessages.yourComment());
    await field.fill('loud');
    await field.selectText();
    await field.press('Control+b');
    expect(await field.inputValue()).toBe('**loud**');
    await field.press('Control+z');
    expect(await field.inputValue()).toBe('loud');
    const toolbar = page.getByRole('toolbar', { name: gitIssuesMessages.formatting() });
    await toolbar.getByRole('button', { name: gitIssuesMessages.formatTaskList() }).click();
    expect(await field.inputValue()).toBe('- [ ] loud');
    // One stop of the Tab key, then the arrow keys.
    await toolbar.getByRole('button', { name: gitIssuesMessages.formatTaskList() }).focus();
    await page.keyboard.press('ArrowLeft');
    const focused = page.locator(':focus');
    expect(await focused.getAttribute('aria-label')).toBe(gitIssuesMessages.formatNumberedList());
  });

  it('shows the activity of the last year', async () => {
    await using browserPage = await visit('/git');
    const { page } = browserPage;
    const map = page.getByRole('region', { name: gitMessages.activity() });
    await map
      .getByRole('img', {
        name: startingWith(gitMessages.contributionSummary({ summary: anyText, day: anyText, count: anyCount })),
      })
      .waitFor();
    expect(await map.locator('[data-level="4"]').count()).toBe(1);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('/git/repositories/ada~buoy?show=issues&number=1', screen);
    const { page } = browserPage;
    await page.getByRole('article').filter({ hasText: 'Here too.' }).waitFor();
    await page.getByRole('button', { name: gitIssuesMessages.addAReaction() }).first().click();
    await expectFits(browserPage, 'git-issue-reactions', screen);
  });
});
