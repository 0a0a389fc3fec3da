import * as gitProblems from '#messages/git-problems';
import * as gitMessages from '#messages/git';
import * as gitCodeMessages from '#messages/git-code';
import * as partsMessages from '#messages/parts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { makeKey } from '../services/git/ssh-key.ts';
import { anyCount, anyText, containing, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const source =
  `/** Says hello. */\nexport function hello(name: string): string {\n  return \`Hello, ` +
  `\${name}\`; // <b>"bold" & co</b>\n}\n`;

describe.skipIf(noBrowser)('Git', () => {
  let fixture: GitFixture;
  beforeAll(async () => {
    fixture = await openGitFixture({ services: [inbox] });
    await fixture.create('lighthouse', { private: true, description: 'Turns the lamp and tells the time' });
    await fixture.create('empty');
    // Uses a repository that other tests do not read.
    await fixture.create('shore', { auto_init: true });
    await fixture.api('POST', '/repos/ada/shore/issues', { title: 'The path is wet' });
    await fixture.api('POST', '/repos/ada/shore/releases', { tag_name: 'v1', name: 'First steps', body: '- A path' });
    const readme = '# Lighthouse\n\nTurns the **lamp**. <script>document.title = "taken"</script>\n';
    const cwd = await fixture.work('lighthouse', { 'README.md': readme, 'hello.ts': source });
    await fixture.run(
      'sh',
      [
        '-c',
        'mkdir -p lamp/lens && echo fresnel > lamp/lens/kind.txt && git add . && git commit -qm "Lens: the kind it is"',
      ],
      { cwd },
    );
    await fixture.run('sh', ['-c', "sed -i 's/Hello/Ahoy/' hello.ts && git commit -qam 'Say ahoy' && git tag v1"], {
      cwd,
    });
    await fixture.git(
      ['push', '-q', `${fixture.signedUrl}/ada/lighthouse.git`, 'main', 'main:refs/heads/feature/beam', 'v1'],
      { cwd },
    );
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    return browserPage;
  };

  it('opens a file from the list, and a commit from the file', async () => {
    await using browserPage = await visit('/git/repositories');
    const { page } = browserPage;
    await page.getByRole('link', { name: /lighthouse/ }).click();
    await page.getByRole('heading', { name: 'ada/lighthouse' }).waitFor();
    await page.getByRole('heading', { name: 'Lighthouse', exact: true }).waitFor();
    expect(await page.title()).toBe(partsMessages.documentTitle({ title: 'ada/lighthouse' }));
    // The page belongs to the repository: other pages of Code are one step back.
    expect(await page.getByRole('tab').count()).toBe(0);
    await page.getByRole('link', { name: /hello\.ts/ }).click();
    const lines = page
      .getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'hello.ts' }) })
      .locator('.lines');
    await lines.getByText('export', { exact: true }).and(page.locator('[data-kind="keyword"]')).waitFor();
    expect(await lines.textContent()).toBe(source.replace('Hello,', 'Ahoy,'));
    await page.getByRole('link', { name: gitCodeMessages.blame() }).click();
    const blame = page.getByRole('region', { name: gitCodeMessages.whoWrotePath({ path: 'hello.ts' }) });
    await blame.getByText('return `Ahoy').waitFor();
    await blame.getByText('return', { exact: true }).and(page.locator('[data-kind="keyword"]')).waitFor();
    expect(await blame.getByRole('link').allTextContents()).toEqual([
      gitCodeMessages.backToTheFile(),
      ...['first commit', 'Say ahoy', 'first commit'],
    ]);
    await page.getByRole('link', { name: gitMessages.commits(), exact: true }).click();
    await page.getByText(containing(gitCodeMessages.commitsOfPath({ path: anyText }))).waitFor();
    await page.getByRole('link', { name: /Say ahoy/ }).click();
    const change = page.getByRole('region', { name: 'hello.ts' });
    await change.getByText(/^\+ {2}return `Ahoy/).waitFor();
    await change.getByText(/^- {2}return `Hello/).waitFor();
    await page.getByRole('link', { name: startingWith(gitCodeMessages.commitBefore({ id: anyText })) }).click();
    await page.getByRole('region', { name: 'lamp/lens/kind.txt' }).getByText('+fresnel').waitFor();
  });

  it('shows another branch, nested folders, and new pushes', async () => {
    await using browserPage = await visit('/git/repositories/ada~lighthouse');
    const { page } = browserPage;
    await page.getByLabel(gitCodeMessages.branchOrTag()).selectOption('feature/beam');
    await page.waitForURL(/ref=feature%2Fbeam/);
    await page.getByRole('link', { name: /^lamp/ }).click();
    await page.getByRole('link', { name: /^lens/ }).click();
    await page.getByRole('link', { name: /kind\.txt/ }).click();
    await page.getByText('fresnel').waitFor();
    await page.getByRole('link', { name: gitMessages.repositories(), exact: true }).click();
    await page.getByRole('link', { name: /empty/ }).click();
    await page.getByText(gitCodeMessages.nothingWasPushedYet()).waitFor();
    const command = (await page.getByText(/^git push http/).textContent()) ?? '';
    const cwd = await fixture.work('to-empty');
    await fixture.git(
      command
        .replace('://', `://${new URL(fixture.signedUrl).username}:${new URL(fixture.signedUrl).password}@`)
        .split(' ')
        .slice(1),
      { cwd },
    );
    await page.getByRole('link', { name: /README\.md/ }).waitFor();
  });

  it('shows no content of one location at another', async () => {
    await using browserPage = await visit('/git/repositories/ada~lighthouse');
    const { page } = browserPage;
    const files = page.getByRole('list', { name: gitMessages.files() });
    const [newFile, failed] = [
      page.getByRole('link', { name: gitCodeMessages.newFile() }),
      page.getByRole('button', { name: partsMessages.tryAgain() }),
    ];
    await files.getByRole('link', { name: /hello\.ts/ }).waitFor();
    await newFile.waitFor();
    const heldRoutes: Route[] = [];
    await page.route('**/content?*', (route) => void heldRoutes.push(route));
    await files.getByRole('link', { name: /hello\.ts/ }).click();
    await expect.poll(() => heldRoutes.length).toBe(1);
    await files.waitFor({ state: 'detached' });
    expect(await newFile.count()).toBe(0);
    await heldRoutes[0]?.fulfill({ status: 500 });
    await failed.waitFor();
    await page.goBack();
    await expect.poll(() => heldRoutes.length).toBe(2);
    await failed.waitFor({ state: 'detached' });
    await heldRoutes[1]?.continue();
    await files.waitFor();
  });

  it('shows the overview, the history and the connection details', async () => {
    await using browserPage = await visit('/git');
    const { page } = browserPage;
    await page.getByText('3 repositories').waitFor();
    expect(await page.getByRole('heading', { name: gitMessages.code(), exact: true }).count()).toBe(1);
    await page
      .getByText(containing(gitMessages.eventBranchCreated({ account: 'ada', subject: anyText })))
      .first()
      .waitFor();
    await fixture.api('POST', '/repos/ada/lighthouse/issues', { title: 'The lamp is out', assignees: ['ada'] });
    await page.getByRole('list', { name: gitMessages.assigned() }).getByText('The lamp is out').waitFor();
    await page.getByRole('link', { name: /ada\/lighthouse .*1 open issue/ }).waitFor();
    await page.getByRole('tab', { name: gitMessages.history() }).click();
    await page.getByText(gitMessages.eventOpened({ account: 'ada', subject: 'issue “The lamp is out”' })).waitFor();
    expect(await page.getByRole('listitem').count()).toBeGreaterThan(3);
    await page.getByRole('tab', { name: gitMessages.connect() }).click();
    // The copied command works unchanged, since it contains existing names.
    const command = page.getByText(/^git clone http/);
    await expect.poll(() => command.textContent()).toMatch(/\/ada\/(?!project\.git)[a-z-]+\.git$/);
    await page.getByText(/^git clone ssh:/).waitFor();
  });

  it('publishes a release with notes and a file', async () => {
    await using browserPage = await visit('/git/repositories/ada~lighthouse?show=releases');
    const { page } = browserPage;
    await page.getByText(gitCodeMessages.noReleasesYet()).waitFor();
    await page.getByRole('button', { name: gitCodeMessages.newRelease() }).click();
    await page.getByLabel(gitCodeMessages.tag(), { exact: true }).fill('v2 x');
    await page.getByRole('button', { name: gitCodeMessages.suggestNotes() }).click();
    await expect
      .poll(() => page.getByLabel(gitCodeMessages.notes()).inputValue())
      .toBe('- Say ahoy\n- Lens: the kind it is\n- first commit');
    await page.getByRole('button', { name: gitCodeMessages.releaseIt() }).click();
    await page.getByText(gitProblems.tagNameInvalid()).first().waitFor();
    await page.getByLabel(gitCodeMessages.tag(), { exact: true }).fill('v2');
    await page.getByLabel(gitCodeMessages.title()).fill('Second light');
    await page.getByRole('button', { name: gitCodeMessages.releaseIt() }).click();
    await page.getByRole('heading', { name: 'Second light' }).waitFor();
    await page
      .getByLabel(gitCodeMessages.fileOfTitle({ title: 'Second light' }))
      .setInputFiles({ name: 'lamp.txt', mimeType: 'text/plain', buffer: Buffer.from('shine') });
    await page.getByText('lamp.txt', { exact: true }).waitFor();
    const loading = page.waitForEvent('download');
    await page.getByRole('button', { name: gitCodeMessages.downloadName({ name: 'lamp.txt' }) }).click();
    expect((await loading).suggestedFilename()).toBe('lamp.txt');
    // The source of the tag, as archive programs take it.
    const source = page.waitForEvent('download');
    await page
      .getByRole('button', {
        name: matching(gitCodeMessages.sourceOfRelease({ kind: 'tar.gz', title: 'Second light' })),
      })
      .click();
    expect((await source).suggestedFilename()).toBe('lighthouse-v2.tar.gz');
    const unpacked = await fixture.run('tar', ['-tzf', await (await source).path()]);
    expect(unpacked.stdout).toContain('lighthouse/README.md');
    await page.getByRole('button', { name: gitCodeMessages.edit(), exact: true }).click();
    await page.getByLabel(gitCodeMessages.preReleaseLabel()).check();
    await page.getByRole('button', { name: gitCodeMessages.save(), exact: true }).click();
    await page.getByText(gitCodeMessages.preRelease(), { exact: true }).waitFor();
    const [release] = (await (await fixture.api('GET', '/repos/ada/lighthouse/releases')).json()) as {
      tag_name: string;
      prerelease: boolean;
      assets: { name: string }[];
    }[];
    expect(release).toMatchObject({ tag_name: 'v2', prerelease: true, assets: [{ name: 'lamp.txt' }] });
  });

  it('publishes a folder of this computer, and restores a repository from its file', async () => {
    const folder = join(fixture.folder, 'My project');
    mkdirSync(folder);
    writeFileSync(join(folder, 'plan.txt'), 'build it\n');
    await using browserPage = await visit('/git/repositories');
    const { page } = browserPage;
    await page.getByRole('button', { name: gitMessages.otherWaysToARepository() }).click();
    await page.getByRole('menuitem', { name: gitMessages.publishAFolderOfThis() }).click();
    await page.getByLabel(gitMessages.folderOnThisComputer()).fill('/no/such');
    await page.getByRole('button', { name: gitMessages.publish(), exact: true }).click();
    await page.getByText(gitProblems.folderNotFound()).first().waitFor();
    await page.getByLabel(gitMessages.folderOnThisComputer()).fill(folder);
    expect(await page.getByLabel(gitMessages.name(), { exact: true }).inputValue()).toBe('My-project');
    await page.getByRole('button', { name: gitMessages.publish(), exact: true }).click();
    await page.getByRole('heading', { name: 'ada/My-project' }).waitFor();
    await page.getByRole('link', { name: /plan\.txt/ }).waitFor();
    await page
      .getByRole('navigation', { name: gitMessages.repository() })
      .getByRole('link', { name: gitMessages.settings() })
      .click();
    const loading = page.waitForEvent('download');
    await page.getByRole('button', { name: gitMessages.backItUp() }).click();
    const file = await loading;
    expect(file.suggestedFilename()).toBe('My-project.tar');
    const path = join(fixture.folder, 'saved.tar');
    await file.saveAs(path);
    await page.goto(`${fixture.host.url('control')}/git/repositories`);
    await page.getByRole('button', { name: gitMessages.otherWaysToARepository() }).click();
    await page.getByRole('menuitem', { name: gitMessages.restoreABackup() }).click();
    await page.getByLabel(gitMessages.file(), { exact: true }).setInputFiles(path);
    await page.getByLabel(gitMessages.name(), { exact: true }).fill('again');
    await page.getByRole('button', { name: gitMessages.restoreIt() }).click();
    await page.getByRole('heading', { name: 'ada/again' }).waitFor();
    await page.getByRole('link', { name: /plan\.txt/ }).waitFor();
  });

  it('creates and deletes a repository, and adds keys', async () => {
    await using browserPage = await visit('/git/repositories');
    const { page } = browserPage;
    await page.getByRole('button', { name: gitMessages.newRepository() }).click();
    await page.getByLabel(gitMessages.name()).fill('a b');
    await page.getByRole('button', { name: gitMessages.makeTheRepository() }).click();
    await page.getByText(gitProblems.repositoryNameInvalid(), { exact: true }).waitFor();
    await page.getByLabel(gitMessages.name()).fill('short.lived');
    await page.getByRole('button', { name: gitMessages.makeTheRepository() }).click();
    await page.getByRole('heading', { name: 'ada/short.lived' }).waitFor();
    await page.reload();
    // The action is in the danger zone of the settings.
    await page
      .getByRole('navigation', { name: gitMessages.repository() })
      .getByRole('link', { name: gitMessages.settings() })
      .click();
    await page.getByRole('button', { name: gitMessages.removeThisRepository() }).click();
    await page.getByRole('button', { name: gitMessages.removeItWithAllIts() }).click();
    await page.getByRole('link', { name: /lighthouse/ }).waitFor();
    expect((await fixture.api('GET', '/repos/ada/short.lived')).status).toBe(404);

    await page.goto(`${fixture.host.url('control')}/git/keys`);
    const key = await makeKey(fixture, 'id_page');
    await page.getByRole('button', { name: gitMessages.addAKey() }).click();
    await page.getByLabel(gitMessages.publicKey()).fill('junk');
    await page.getByRole('button', { name: gitMessages.addTheKey() }).click();
    await page.getByText(gitProblems.keyInvalid()).waitFor();
    await page.getByLabel(gitMessages.publicKey()).fill(key.text);
    await page.getByRole('button', { name: gitMessages.addTheKey() }).click();
    await page.getByText('id_page').waitFor();
    const { stdout } = await fixture.run('ssh-keygen', ['-lf', `${fixture.folder}/id_page.pub`]);
    await page.getByText(stdout.split(' ')[1] ?? '').waitFor();
    await page.getByRole('button', { name: gitMessages.remove(), exact: true }).click();
    await page.getByRole('button', { name: gitMessages.removeIt() }).click();
    await page.getByText(gitMessages.youHaveNoKeyHere()).waitFor();
  });

  it('creates, edits, moves, downloads and deletes a file, each as a commit', async () => {
    await fixture.create('notes', { auto_init: true });
    await using browserPage = await visit('/git/repositories/ada~notes');
    const { page } = browserPage;
    await page.getByRole('link', { name: gitCodeMessages.newFile() }).click();
    await page.getByLabel(gitCodeMessages.path()).fill('README.md');
    await page.getByLabel(gitCodeMessages.text(), { exact: true }).fill('keep the light\n');
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await page.getByText(gitProblems.fileExists()).waitFor();
    await page.getByLabel(gitCodeMessages.path()).fill('plans/.git/x');
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await page.getByText(gitProblems.filePathInvalid()).waitFor();
    await page.getByLabel(gitCodeMessages.path()).fill('plans/light.txt');
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await page
      .getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'plans/light.txt' }) })
      .getByText('keep the light')
      .waitFor();
    expect(await (await fixture.api('GET', '/repos/ada/notes/commits')).json()).toMatchObject([
      { commit: { message: 'Add plans/light.txt\n', author: { name: 'ada' } } },
      {},
    ]);

    await page.getByRole('link', { name: gitCodeMessages.edit() }).click();
    await page.getByLabel(gitCodeMessages.text(), { exact: true }).fill('keep the light on\n');
    // Another account commits first.
    const { sha } = (await (await fixture.api('GET', '/repos/ada/notes/contents/plans/light.txt')).json()) as {
      sha: string;
    };
    const other = { content: Buffer.from('switch it off\n').toString('base64'), sha };
    expect((await fixture.api('PUT', '/repos/ada/notes/contents/plans/light.txt', other)).status).toBe(200);
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await page.getByText(gitProblems.fileChanged()).waitFor();
    expect(await page.getByLabel(gitCodeMessages.text(), { exact: true }).inputValue()).toBe('keep the light on\n');
    await page.reload();
    await expect
      .poll(() => page.getByLabel(gitCodeMessages.text(), { exact: true }).inputValue())
      .toBe('switch it off\n');
    await page.getByLabel(gitCodeMessages.text(), { exact: true }).fill('keep the light on\n');
    await page.getByLabel(gitCodeMessages.path()).fill('light.txt');
    await page.getByLabel(gitCodeMessages.commitMessage()).fill('Light: up, and on, as #7 asks');
    await page.getByLabel(gitCodeMessages.newBranch()).fill('bright');
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await page
      .getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'light.txt' }) })
      .getByText('keep the light on')
      .waitFor();
    await page.waitForURL(/ref=bright/);
    // References in the message of a commit are links.
    await page.getByRole('link', { name: /^Light: up/ }).click();
    const named = page
      .getByRole('heading', { name: 'Light: up, and on, as #7 asks' })
      .getByRole('link', { name: '#7' });
    expect(await named.getAttribute('href')).toBe('/git/repositories/ada~notes?show=issues&number=7');
    await page.goBack();
    await page.getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'light.txt' }) }).waitFor();
    expect((await fixture.api('GET', '/repos/ada/notes/contents/plans/light.txt?ref=bright')).status).toBe(404);
    const loading = page.waitForEvent('download');
    await page.getByRole('button', { name: gitCodeMessages.download(), exact: true }).click();
    expect((await loading).suggestedFilename()).toBe('light.txt');

    await page.getByRole('link', { name: gitCodeMessages.edit() }).click();
    await page.getByRole('button', { name: gitCodeMessages.removeTheFile() }).click();
    await page.getByRole('button', { name: gitCodeMessages.removeIt() }).click();
    await page.getByText('Delete light.txt').first().waitFor();
    expect((await fixture.api('GET', '/repos/ada/notes/contents/light.txt?ref=bright')).status).toBe(404);
    // Revisions that are not branches cannot be edited.
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~lighthouse?ref=v1`);
    await page.getByRole('link', { name: /hello\.ts/ }).waitFor();
    expect(await page.getByRole('link', { name: gitCodeMessages.newFile() }).count()).toBe(0);
  });

  it('keeps line ends, and offers no editing of files that it cannot restore', async () => {
    await fixture.create('ends', { auto_init: true });
    const make = async (path: string, bytes: Buffer): Promise<void> => {
      const reply = await fixture.api('POST', `/repos/ada/ends/contents/${path}`, {
        content: bytes.toString('base64'),
      });
      expect(reply.status).toBe(201);
    };
    await make('dos.txt', Buffer.from('one\r\ntwo\r\n'));
    await make('latin.txt', Buffer.from('K\u00e4se', 'latin1'));
    await using browserPage = await visit('/git/repositories/ada~ends?path=latin.txt');
    const { page } = browserPage;
    await page.getByRole('link', { name: gitCodeMessages.blame() }).waitFor();
    expect(await page.getByRole('link', { name: gitCodeMessages.edit() }).count()).toBe(0);
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~ends?show=edit&path=latin.txt`);
    await page.getByText(gitCodeMessages.notEditable()).waitFor();
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~ends?show=edit&path=dos.txt`);
    await page.getByLabel(gitCodeMessages.text(), { exact: true }).fill('one\ntwo\nthree\n');
    await page.getByRole('button', { name: gitCodeMessages.commit(), exact: true }).click();
    await page
      .getByRole('region', { name: gitCodeMessages.linesOfPath({ path: 'dos.txt' }) })
      .getByText('three')
      .waitFor();
    expect(await (await fixture.api('GET', '/repos/ada/ends/raw/dos.txt')).text()).toBe('one\r\ntwo\r\nthree\r\n');
  });

  it('renders a part of a long file, and a long change on request', async () => {
    await fixture.create('long');
    const cwd = await fixture.work('long', {
      'lines.txt': '\n'.repeat(200_000),
      'change.txt': 'line\n'.repeat(2000),
      'README.md': `${'['.repeat(50_000)}\n`,
    });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/long.git`, 'main'], { cwd });
    await using browserPage = await visit('/git/repositories/ada~long');
    const { page } = browserPage;
    await page.getByRole('link', { name: /lines\.txt/ }).click();
    await page.getByText('5,000 of 200,000').waitFor();
    await page.getByRole('button', { name: gitCodeMessages.showMoreLines() }).click();
    await page.getByText('10,000 of 200,000').waitFor();
    const { id } = (
      (await (await fixture.api('GET', '/repos/ada/long/branches/main')).json()) as { commit: { id: string } }
    ).commit;
    await page.goto(`${fixture.host.url('control')}/git/repositories/ada~long?commit=${id}`);
    // Excludes commits whose id ends in 3, before the link to its files.
    await page.getByText(/^3 files/).waitFor();
    const change = page.getByRole('region', { name: 'change.txt' });
    expect(await change.getByText('+line').count()).toBe(0);
    await change.getByRole('button', { name: matching(gitCodeMessages.showLines({ count: anyCount })) }).click();
    await change.getByText('+line').first().waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('/git/repositories', screen);
    const { page } = browserPage;
    await page.getByRole('link', { name: /lighthouse/ }).waitFor();
    await expectFits(browserPage, 'git-list', screen);
    for (const [name, path, heading] of [
      ['overview', '/git', 'repositories'],
      ['history', '/git/history', 'ada opened'],
      ['connect', '/git/connect', gitMessages.aTokenForPrograms()],
    ] as const) {
      await page.goto(fixture.host.url('control') + path);
      await page.getByText(heading).first().waitFor();
      await expectFits(browserPage, `git-${name}`, screen);
    }
    for (const [name, path, title] of [
      ['releases', 'shore?show=releases', 'First steps'],
      ['code', 'lighthouse', 'hello.ts'],
      ['file', 'lighthouse?path=hello.ts', 'Ahoy'],
      ['blame', 'lighthouse?show=blame&path=hello.ts', 'Ahoy'],
      ['edit', 'lighthouse?show=edit&path=hello.ts', 'Commit message'],
      ['commits', 'lighthouse?show=commits', 'Say ahoy'],
    ] as const) {
      await page.goto(`${fixture.host.url('control')}/git/repositories/ada~${path}`);
      await page.getByText(title).first().waitFor();
      await expectFits(browserPage, `git-${name}`, screen);
    }
    const href = await page.getByRole('link', { name: /Say ahoy/ }).getAttribute('href');
    await page.goto(fixture.host.url('control') + (href ?? ''));
    await page.getByText(containing(gitCodeMessages.commitBefore({ id: anyText }))).waitFor();
    await expectFits(browserPage, 'git-commit', screen);
  });
});
