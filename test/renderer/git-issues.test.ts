import * as partsMessages from '#messages/parts';
import * as gitMessages from '#messages/git';
import * as gitCodeMessages from '#messages/git-code';
import * as gitIssuesMessages from '#messages/git-issues';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { anyText, containing, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n') + '\n';

describe.skipIf(noBrowser)('issues and pull requests', () => {
  let fixture: GitFixture;
  let bob = '';
  beforeAll(async () => {
    fixture = await openGitFixture({ services: [inbox] });
    bob = await fixture.account('bob', [{ service: 'git', resource: 'ada/lamp', permission: 'read-write' }]);
    await fixture.create('lamp');
    const cwd = await fixture.work('lamp', { 'lamp.txt': lines });
    const branch = async (name: string, text: string) => {
      await fixture.git(['checkout', '-q', '-b', name, 'main'], { cwd });
      writeFileSync(join(cwd, 'lamp.txt'), text);
      await fixture.git(['commit', '-qam', `Lamp: ${name}`], { cwd });
    };
    await branch('brighter', lines.replace('line 3', 'a bright line 3'));
    await branch('dimmer', lines.replace('line 12', 'a dim line 12'));
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/lamp.git`, '--all'], { cwd });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/git/repositories/ada~lamp${path}`);
    return browserPage;
  };

  it('creates an issue with a label, comments in safe Markdown, finds and closes it', async () => {
    await using browserPage = await visit('?show=labels');
    const { page } = browserPage;
    await page.getByLabel(gitMessages.name()).fill('bug');
    await page.getByRole('button', { name: gitCodeMessages.addTheLabel() }).click();
    await page.getByRole('link', { name: 'bug' }).waitFor();
    await page.getByRole('button', { name: gitCodeMessages.editTag({ tag: 'bug' }) }).click();
    await page.getByLabel(gitCodeMessages.whatItIsFor()).fill('Something is broken.');
    await page.getByRole('button', { name: gitCodeMessages.save() }).click();
    await page.getByText('Something is broken.').waitFor();
    const labels: unknown = await (await fixture.api('GET', '/repos/ada/lamp/labels')).json();
    expect(labels).toMatchObject([{ name: 'bug', description: 'Something is broken.', color: '2f81a8' }]);
    await page.getByLabel(gitCodeMessages.title()).fill('Winter');
    await page.getByRole('button', { name: gitCodeMessages.addTheMilestone() }).click();
    await page.getByRole('link', { name: 'Winter' }).waitFor();
    await page.getByRole('link', { name: startingWith(gitMessages.issues()) }).click();
    await page.getByText('No open issues.').waitFor();
    await page.getByRole('button', { name: gitIssuesMessages.newIssue() }).click();
    await page.getByLabel(gitCodeMessages.title()).fill('The lamp flickers');
    await page
      .getByLabel(gitIssuesMessages.whatItIsAbout())
      .fill(
        'At **night**, as #7 says, not `#8` nor a#9. <img src=x onerror="document.title=1"><script>' +
          'document.title=2</script>\n\n- [x] new cable\n- [ ] new fuse',
      );
    await page.getByRole('checkbox', { name: 'bug' }).check();
    await page.getByRole('button', { name: gitIssuesMessages.makeTheIssue() }).click();
    await page.getByRole('heading', { name: /The lamp flickers/ }).waitFor();
    await expect.poll(() => page.locator('article strong', { hasText: 'night' }).count()).toBe(1);
    const task = page.getByText('☑ new cable');
    await task.waitFor();
    // The label shows one icon, without that of the list.
    expect(await task.evaluate((item) => getComputedStyle(item).listStyleType)).toBe('none');
    // Numbers of issues lead to them, but for those in code and in words.
    const article = page.getByRole('article').first();
    expect(
      await article.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['/git/repositories/ada~lamp?show=issues&number=7']);
    await page
      .getByRole('navigation', { name: gitMessages.repository() })
      .getByRole('link', { name: 'Issues 1 open' })
      .waitFor();
    await page.getByText('☐ new fuse').waitFor();
    expect(await page.locator('article script, article img[onerror]').count()).toBe(0);
    expect(await page.title()).toBe(partsMessages.documentTitle({ title: 'ada/lamp' }));
    await page.getByLabel(gitIssuesMessages.yourComment()).fill('It **hums**, too');
    await page.getByRole('radio', { name: gitIssuesMessages.preview() }).check();
    await page.getByRole('region', { name: gitIssuesMessages.preview() }).locator('strong').getByText('hums').waitFor();
    await page.getByRole('radio', { name: gitIssuesMessages.write() }).check();
    await page.getByLabel(gitIssuesMessages.yourComment()).fill('It hums, too');
    await page.getByRole('button', { name: gitIssuesMessages.comment(), exact: true }).click();
    await page.getByRole('article').getByText('It hums, too').waitFor();
    // Changes of other accounts appear without a reload.
    await fixture.api('POST', '/repos/ada/lamp/issues/1/comments', { body: 'I hear it as well' }, bob);
    await page.getByRole('article').getByText('I hear it as well').waitFor();
    await page.getByRole('button', { name: gitCodeMessages.edit() }).click();
    await page.getByLabel(gitIssuesMessages.milestone()).selectOption('Winter');
    await page.getByRole('checkbox', { name: 'bob' }).check();
    await page.getByRole('button', { name: gitCodeMessages.save() }).click();
    await page
      .getByText(containing(gitIssuesMessages.eventMilestoneSet({ author: anyText, milestone: 'Winter' })))
      .waitFor();
    await page.getByRole('button', { name: gitIssuesMessages.closeIssue() }).click();
    await page.getByText(containing(gitIssuesMessages.eventClosed({ author: anyText }))).waitFor();
    await page
      .getByRole('navigation', { name: gitMessages.repository() })
      .getByRole('link', { name: startingWith(gitMessages.issues()) })
      .click();
    await page.getByRole('radio', { name: startingWith(gitIssuesMessages.closedIssues()) }).check();
    await page.getByRole('link', { name: /The lamp flickers/ }).waitFor();
    await page.getByRole('searchbox').fill('humming');
    await page.getByText(gitIssuesMessages.noClosedMatches({ kind: 'issues' })).waitFor();
    await page.getByRole('searchbox').fill('hums');
    await page.getByRole('link', { name: /The lamp flickers/ }).waitFor();
  });

  it('creates a pull request, comments on a line, and merges it', async () => {
    await using browserPage = await visit('?show=pulls');
    const { page } = browserPage;
    await page.getByRole('button', { name: gitIssuesMessages.newPullRequest() }).click();
    await page.getByLabel(gitIssuesMessages.pullTheBranch()).selectOption('brighter');
    await page.getByLabel(gitCodeMessages.title()).fill('A brighter lamp');
    await page.getByRole('button', { name: gitIssuesMessages.makeThePullRequest() }).click();
    await page.getByRole('heading', { name: /A brighter lamp/ }).waitFor();
    await page.goto(`${fixture.host.url('control')}/git`);
    await page.getByRole('list', { name: gitMessages.openPullRequests() }).getByText('A brighter lamp').click();
    await page.getByText(gitIssuesMessages.nothingIsInTheWay({ count: 1, base: 'main' })).waitFor();
    await page.getByRole('link', { name: 'Files 1' }).click();
    await page.getByRole('button', { name: gitCodeMessages.commentOnLine({ line: '3' }), exact: true }).click();
    await page.getByRole('textbox', { name: gitIssuesMessages.onLine({ line: '3' }) }).fill('How many watts?');
    await page.getByRole('button', { name: gitIssuesMessages.sendTheReview() }).click();
    const commentArticle = page.getByRole('article').filter({ hasText: 'How many watts?' });
    await commentArticle.getByText('+a bright line 3').waitFor();
    await fixture.api('POST', '/repos/ada/lamp/pulls/2/reviews', { event: 'APPROVED' }, bob);
    await page.getByText(gitIssuesMessages.approvesIt({ account: 'bob' })).waitFor();
    await page.getByRole('link', { name: 'Commits 1' }).click();
    await page.getByRole('link', { name: 'Lamp: brighter' }).waitFor();
    await page.getByRole('link', { name: gitIssuesMessages.conversation() }).click();
    await page.getByLabel(gitIssuesMessages.howItIsMerged()).selectOption('squash');
    await page.getByText(gitIssuesMessages.squashEffect({ base: 'main', head: 'brighter' })).waitFor();
    await page.getByRole('checkbox', { name: gitIssuesMessages.deleteHeadAfterwards({ head: 'brighter' }) }).check();
    await page.getByRole('button', { name: gitIssuesMessages.mergeIntoBase({ base: 'main' }) }).click();
    await page.getByText(containing(gitIssuesMessages.eventMerged({ author: anyText, commit: anyText }))).waitFor();
    const branches = async (): Promise<readonly string[]> =>
      ((await (await fixture.api('GET', '/repos/ada/lamp/branches')).json()) as { name: string }[]).map(
        ({ name }) => name,
      );
    await expect.poll(branches).toEqual(['dimmer', 'main']);
  });

  it('lists conflicting files, and offers the merge once they are resolved', async () => {
    const created = await fixture.api(
      'POST',
      '/repos/ada/lamp/pulls',
      { title: 'A dimmer lamp', head: 'dimmer', base: 'main', body: 'Fixes #1' },
      bob,
    );
    const { number } = (await created.json()) as { number: number };
    const cwd = join(fixture.folder, 'lamp');
    await fixture.git(['checkout', '-q', 'main'], { cwd });
    await fixture.git(['pull', '-q', `${fixture.signedUrl}/ada/lamp.git`, 'main'], { cwd });
    const now = lines.replace('line 3', 'a bright line 3');
    writeFileSync(join(cwd, 'lamp.txt'), now.replace('line 12', 'a pink line 12'));
    await fixture.git(['commit', '-qam', 'Pink'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/lamp.git`, 'main'], { cwd });
    await using browserPage = await visit(`?show=pulls&number=${number}`);
    const { page } = browserPage;
    await page.getByText(containing(gitIssuesMessages.conflictsHint({ base: anyText, head: anyText }))).waitFor();
    await page.getByRole('listitem').getByText('lamp.txt').waitFor();
    expect(
      await page
        .getByRole('button', { name: startingWith(gitIssuesMessages.mergeIntoBase({ base: anyText })) })
        .count(),
    ).toBe(0);
    await fixture.git(['checkout', '-q', 'dimmer'], { cwd });
    await fixture.git(['merge', '-q', '-X', 'ours', 'main'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/lamp.git`, 'dimmer'], { cwd });
    await page.getByRole('button', { name: gitIssuesMessages.mergeIntoBase({ base: 'main' }) }).waitFor();
    // A pull request of another account can be reviewed; the options are no larger than their labels.
    await page.getByRole('link', { name: 'Files 1' }).click();
    await page.getByRole('radio', { name: gitIssuesMessages.requestChanges() }).waitFor();
    const heights = await page
      .getByRole('group', { name: gitIssuesMessages.verdict() })
      .getByRole('radio')
      .evaluateAll((all) => all.map((one) => one.clientHeight));
    expect(heights).toEqual([18, 18, 18]);
    // When a branch rule requires it, the review is the first action and bypassing the rule the last.
    await fixture.api('POST', '/repos/ada/lamp/branch_protections', {
      rule_name: 'main',
      enable_push: true,
      required_approvals: 1,
    });
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~lamp?show=pulls&number=${number}`);
    await page.getByRole('heading', { name: gitIssuesMessages.needsApprovals({ count: 1 }) }).waitFor();
    expect(await page.getByRole('button', { name: gitIssuesMessages.mergeIntoBase({ base: 'main' }) }).count()).toBe(0);
    await page.getByRole('button', { name: gitIssuesMessages.mergeWithoutApproval() }).click();
    await page.getByRole('button', { name: gitIssuesMessages.mergeIntoBase({ base: 'main' }) }).waitFor();
    await page.getByRole('button', { name: gitIssuesMessages.review() }).click();
    await page.getByRole('radio', { name: gitIssuesMessages.approve() }).check();
    await page.getByRole('button', { name: gitIssuesMessages.sendTheReview() }).click();
    await page.getByRole('heading', { name: gitIssuesMessages.readyToMerge() }).waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('?show=issues&state=closed', screen);
    const { page } = browserPage;
    await page.getByRole('link', { name: /flickers/ }).waitFor();
    await expectFits(browserPage, 'git-issues', screen);
    for (const [name, path, heading] of [
      ['issue', '?show=issues&number=1', 'It hums, too'],
      ['labels', '?show=labels', 'Winter'],
      ['pull', '?show=pulls&number=3', 'Merge into main'],
      [
        'pull-merged',
        '?show=pulls&number=2',
        containing(gitIssuesMessages.eventMerged({ author: anyText, commit: anyText })),
      ],
      ['pull-files', '?show=pulls&number=3&view=files', gitIssuesMessages.sendTheReview()],
    ] as const) {
      await page.goto(`${fixture.host.url('control')}/git/repositories/ada~lamp${path}`);
      await page.getByText(heading).first().waitFor();
      await expectFits(browserPage, `git-${name}`, screen);
    }
  });
});
