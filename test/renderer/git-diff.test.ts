import * as gitCodeMessages from '#messages/git-code';
import * as gitIssuesMessages from '#messages/git-issues';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const buildSource = (first: string, second: string): string =>
  Array.from({ length: 120 }, (_, index) => {
    if (index === 9) return first;
    return index === 99 ? second : `export const n${index + 1} = ${index + 1};`;
  }).join('\n') + '\n';

describe.skipIf(noBrowser)('changes of files', () => {
  let fixture: GitFixture;
  let commit = '';
  beforeAll(async () => {
    fixture = await openGitFixture({ services: [inbox] });
    await fixture.create('boat');
    const cwd = await fixture.work('boat');
    mkdirSync(join(cwd, 'src/engine'), { recursive: true });
    mkdirSync(join(cwd, 'docs'));
    const write = (path: string, text: string): void => writeFileSync(join(cwd, path), text);
    write('src/engine/speed.ts', buildSource('const knots = 5;', 'const gears = 2;'));
    write('docs/old.md', '# Old\n');
    await fixture.git(['add', '.'], { cwd });
    await fixture.git(['commit', '-qm', 'Engine'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/boat.git`, 'main'], { cwd });
    await fixture.git(['checkout', '-q', '-b', 'faster'], { cwd });
    write('src/engine/speed.ts', buildSource('const knots = 12;', 'const gears = 4;\nconst extra = 1;'));
    write('docs/new.md', '# New\n');
    await fixture.git(['rm', '-q', 'docs/old.md'], { cwd });
    await fixture.git(['add', '.'], { cwd });
    await fixture.git(['commit', '-qm', 'Faster'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/boat.git`, 'faster'], { cwd });
    commit = (await fixture.git(['rev-parse', 'HEAD'], { cwd })).stdout.trim();
    await fixture.api('POST', '/repos/ada/boat/pulls', { title: 'Faster', head: 'faster', base: 'main' });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (query: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/git/repositories/ada~boat?${query}`);
    return browserPage;
  };
  const readNumbers = (file: Locator, text: string): Promise<readonly (string | null)[]> =>
    file.locator('.line', { hasText: text }).locator('.number').allTextContents();

  it('highlights changed code and shows its line numbers in both files', async () => {
    await using browserPage = await visit(`commit=${commit}`);
    const file = browserPage.page.getByRole('region', { name: 'src/engine/speed.ts' });
    await file.getByText('const', { exact: true }).and(file.locator('[data-kind="keyword"]')).first().waitFor();
    expect(await readNumbers(file, '-const knots = 5;')).toEqual(['10', '']);
    expect(await readNumbers(file, '+const knots = 12;')).toEqual(['', '10']);
    expect(await readNumbers(file, '-const gears = 2;')).toEqual(['100', '']);
    expect(await readNumbers(file, 'export const n102 = 102;')).toEqual(['102', '103']);
  });

  it('reveals unchanged lines above, between and below the changes', async () => {
    await using browserPage = await visit(`commit=${commit}`);
    const { page } = browserPage;
    const file = page.getByRole('region', { name: 'src/engine/speed.ts' });
    await file.getByRole('button', { name: gitCodeMessages.showUnchangedLines({ count: 6 }) }).click();
    await file.getByText('export const n1 = 1;').waitFor();
    // Between the changes, 20 lines at a time from either end.
    await file.getByRole('button', { name: gitCodeMessages.showLinesBelow() }).first().click();
    await file.getByText('export const n33 = 33;').waitFor();
    expect(await file.getByText('export const n34 = 34;').count()).toBe(0);
    await file.getByRole('button', { name: gitCodeMessages.showLinesAbove() }).click();
    await file.getByText('export const n77 = 77;').waitFor();
    await file.getByRole('button', { name: gitCodeMessages.showUnchangedLines({ count: 43 }) }).click();
    await file.getByText('export const n50 = 50;').waitFor();
    expect(await readNumbers(file, 'export const n50 = 50;')).toEqual(['50', '50']);
    await file.getByRole('button', { name: gitCodeMessages.showUnchangedLines({ count: 17 }) }).click();
    await file.getByText('export const n120 = 120;').waitFor();
    expect(await readNumbers(file, 'export const n120 = 120;')).toEqual(['120', '121']);
    expect(await file.getByRole('button', { name: gitCodeMessages.showLinesBelow() }).count()).toBe(0);
  });

  it('shows changes side by side and keeps the selected view', async () => {
    await using browserPage = await visit(`commit=${commit}`);
    const { page } = browserPage;
    await page.getByRole('radio', { name: gitCodeMessages.splitView() }).check();
    const file = page.getByRole('region', { name: 'src/engine/speed.ts' });
    await file.getByText('-const knots = 5;').waitFor();
    const [left, right] = await Promise.all([
      file.getByText('-const knots = 5;').boundingBox(),
      file.getByText('+const knots = 12;').boundingBox(),
    ]);
    expect(left?.y).toBe(right?.y);
    expect(left?.x ?? 0).toBeLessThan(right?.x ?? 0);
    await page.reload();
    await page.getByRole('radio', { name: gitCodeMessages.splitView(), checked: true }).waitFor();
  });

  it('lists the changed files as a tree and scrolls to the selected one', async () => {
    await using browserPage = await visit(`commit=${commit}`);
    const { page } = browserPage;
    const tree = page.getByRole('navigation', { name: gitCodeMessages.changedFiles() });
    await tree.getByText('src/engine').waitFor();
    await tree.getByRole('link', { name: `${gitCodeMessages.added()} new.md` }).waitFor();
    await tree.getByRole('link', { name: `${gitCodeMessages.removed()} old.md` }).waitFor();
    await tree.getByRole('link', { name: `${gitCodeMessages.changed()} speed.ts` }).click();
    const file = page.getByRole('region', { name: 'src/engine/speed.ts' });
    const fold = file.getByRole('button', { name: gitCodeMessages.linesOfPath({ path: 'src/engine/speed.ts' }) });
    await expect.poll(() => fold.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    await file.getByText('+const knots = 12;').waitFor({ state: 'detached' });
    expect(await fold.getAttribute('aria-expanded')).toBe('false');
  });

  it('comments on a line below that line and shows its code in the conversation', async () => {
    await using browserPage = await visit('show=pulls&number=1&view=files');
    const { page } = browserPage;
    await page.getByRole('button', { name: gitCodeMessages.commentOnOldLine({ line: '100' }), exact: true }).click();
    await page.keyboard.type('Why were there two?');
    await page.getByRole('textbox', { name: gitIssuesMessages.onOldLine({ line: '100' }) }).waitFor();
    await page.getByRole('button', { name: gitIssuesMessages.sendTheReview() }).click();
    const comment = page.getByRole('article').filter({ hasText: 'Why were there two?' });
    await comment.getByText('-const gears = 2;').waitFor();
    expect(await readNumbers(comment, '-const gears = 2;')).toEqual(['100', '']);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('show=pulls&number=1&view=files', screen);
    const { page } = browserPage;
    await page.getByText('+const knots = 12;').waitFor();
    await expectFits(browserPage, 'git-diff', screen);
  });
});
