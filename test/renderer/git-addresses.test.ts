import * as gitMessages from '#messages/git';
import * as gitCodeMessages from '#messages/git-code';
import { crc32, deflateSync } from 'node:zlib';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser, type PageOptions } from '../support/browser.ts';
import { openGitFixture, type GitFixture } from '../services/git/git-fixture.ts';
import { containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { needs } from '../support/requirements.ts';

needs('git-lfs');

const lines = Array.from({ length: 6000 }, (_, index) => `line number ${index + 1}`);

/** A PNG of 2 × 2 pixels. */
function makePicture(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  const pixels = deflateSync(Buffer.from([0, 255, 0, 0, 0, 255, 0, 0, 0, 0, 255, 9, 9, 9]));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

describe.skipIf(noBrowser)('Gitea URLs in a browser', () => {
  let fixture: GitFixture;
  const picture = makePicture();
  beforeAll(async () => {
    fixture = await openGitFixture({ services: [inbox] });
    await fixture.create('demo', { description: 'Turns the lamp and tells the time' });
    await fixture.create('other', { auto_init: true });
    await fixture.api('POST', '/orgs', { username: 'harbour' });
    await fixture.api('POST', '/orgs/harbour/repos', { name: 'crane', auto_init: true });
    await fixture.api('POST', '/orgs/harbour/repos', { name: 'ada-list', auto_init: true });
    const cwd = await fixture.work('demo', {
      '.gitattributes': '*.png filter=lfs diff=lfs merge=lfs -text\n*.csv filter=lfs diff=lfs merge=lfs -text\n',
      'README.md': '# Demo\n\nTurns the **lamp**. See [the lines](long.txt).\n\n```sh\nmake all\n```\n',
      'long.txt': `${lines.join('\n')}\n`,
    });
    await fixture.git(['lfs', 'install', '--local'], { cwd });
    mkdirSync(join(cwd, 'media'));
    writeFileSync(join(cwd, 'media', 'dot.png'), picture);
    writeFileSync(join(cwd, 'media', 'table.csv'), 'name,height\nlighthouse,31\n');
    await fixture.git(['add', '.'], { cwd });
    await fixture.git(['commit', '-qm', 'Add large files'], { cwd });
    await fixture.git(['push', '-q', `${fixture.signedUrl}/ada/demo.git`, 'main'], { cwd });
    await fixture.api('POST', '/repos/ada/demo/issues', { title: 'The lamp is dim', body: 'Since **yesterday**.' });
    await fixture.api('POST', '/repos/ada/demo/releases', { tag_name: 'v1', name: 'First light', body: '- A lamp' });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  /** Opens an address of Gitea in a browser that has used the app. */
  const openInApp = async (path: string) => {
    const browserPage = await openPage(await getBrowser());
    const { page } = browserPage;
    const context = page.context();
    await signIn(context, fixture.host.url('control'));
    await context.addCookies([{ name: 'homeport-app', value: '1', url: fixture.url }]);
    await page.goto(`${fixture.url}${path}`);
    return browserPage;
  };
  const openAsVisitor = async (path: string, options: PageOptions = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await browserPage.page.goto(`${fixture.url}${path}`);
    return browserPage;
  };
  const isInView = (page: Page, selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return bottom > 0 && top < innerHeight;
      });

  it.each([
    ['#L300', 300, 1],
    ['#L300-L320', 300, 21],
    ['#L320-300', 300, 21],
    ['#L5900-L5910', 5900, 11],
  ])('marks the lines of %s in the app and scrolls to them', async (fragment, first, count) => {
    await using browserPage = await openInApp(`/ada/demo/src/branch/main/long.txt${fragment}`);
    const { page } = browserPage;
    await page.waitForURL((url) => url.searchParams.get('path') === 'long.txt' && url.hash === fragment);
    await page.locator('.mark').waitFor();
    await expect.poll(() => isInView(page, '.mark')).toBe(true);
    const colors = await page.locator('.mark').evaluate((mark) => {
      const numbers = document.querySelector('pre.numbers');
      if (numbers === null) throw new Error('The page has no line numbers.');
      const lineHeight = parseFloat(getComputedStyle(numbers).lineHeight);
      const padding = parseFloat(getComputedStyle(numbers).paddingTop);
      const box = mark.getBoundingClientRect();
      const offset = box.top - numbers.getBoundingClientRect().top - padding;
      return { first: Math.round(offset / lineHeight) + 1, count: Math.round(box.height / lineHeight) };
    });
    expect(colors).toEqual({ first, count });
    expect(browserPage.complaints).toEqual([]);
  });

  it('marks other lines when the fragment changes, and none for another fragment', async () => {
    await using browserPage = await openInApp('/ada/demo/src/branch/main/long.txt#L10');
    const { page } = browserPage;
    await page.locator('.mark').waitFor();
    await page.evaluate(() => void (location.hash = '#L4000'));
    await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(10_000);
    await page.evaluate(() => void (location.hash = '#other'));
    await page.locator('.mark').waitFor({ state: 'detached' });
  });

  it('marks lines in the blame view', async () => {
    await using browserPage = await openInApp('/ada/demo/blame/branch/main/long.txt#L200-L201');
    const { page } = browserPage;
    await page.locator('code.marked').first().waitFor();
    expect(await page.locator('code.marked').allTextContents()).toEqual(
      lines.slice(199, 201).map((line) => expect.stringContaining(line)),
    );
    await expect.poll(() => isInView(page, 'code.marked')).toBe(true);
  });

  it.each([
    ['#L300', 300, 1],
    ['#L300-L320', 300, 21],
  ])('marks the lines of %s for visitors and scrolls to them', async (fragment, first, count) => {
    await using browserPage = await openAsVisitor(`/ada/demo/src/branch/main/long.txt${fragment}`);
    const { page } = browserPage;
    const marked = page.locator('tr:is(:target, .marked)');
    await expect.poll(() => marked.count()).toBe(count);
    expect(await marked.first().getAttribute('id')).toBe(`L${first}`);
    await expect.poll(() => isInView(page, 'tr:is(:target, .marked)')).toBe(true);
    expect(browserPage.complaints).toEqual([]);
  });

  it('lists the repositories of an account or an organization, not those with a similar name', async () => {
    for (const [owner, expected] of [
      ['harbour', ['harbour/ada-list', 'harbour/crane']],
      ['ADA', ['ada/demo', 'ada/other']],
    ] as const) {
      await using browserPage = await openInApp(`/${owner}`);
      const { page } = browserPage;
      await page.getByText(containing(gitMessages.repositoriesOfOwner({ owner }))).waitFor();
      const list = page.getByRole('list', { name: gitMessages.repositories() }).getByRole('listitem');
      await expect.poll(() => list.count()).toBe(expected.length);
      for (const name of expected)
        expect((await list.allInnerTexts()).join('\n').replace(/\s*\/\s*/g, '/')).toContain(name);
      await page.getByRole('button', { name: gitMessages.showAllOwners() }).click();
      await expect.poll(() => list.count()).toBe(4);
    }
  });

  it.each(['app', 'visitor'] as const)('shows files of Git LFS: %s', async (kind) => {
    const open = kind === 'app' ? openInApp : openAsVisitor;
    await using browserPage = await open('/ada/demo/src/branch/main/media/dot.png');
    const { page } = browserPage;
    const image = page.locator('img[alt="media/dot.png"]');
    await image.waitFor();
    await expect.poll(() => image.evaluate((entry) => (entry as HTMLImageElement).naturalWidth)).toBe(2);
    await page.goto(`${fixture.url}/ada/demo/src/branch/main/media/table.csv`);
    await page.getByText('lighthouse,31').waitFor();
    expect(await page.getByText('git-lfs').count()).toBe(0);
    expect(await page.getByRole('link', { name: gitCodeMessages.edit(), exact: true }).count()).toBe(0);
    expect(browserPage.complaints).toEqual([]);
  });

  it('downloads the content of a Git LFS file', async () => {
    await using browserPage = await openInApp('/ada/demo/src/branch/main/media/dot.png');
    const { page } = browserPage;
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: gitCodeMessages.download() }).click();
    const stream = await (await download).createReadStream();
    expect(Buffer.concat(await stream.toArray())).toEqual(picture);
    const raw = await fetch(`${fixture.url}/ada/demo/media/branch/main/media/dot.png`);
    expect(Buffer.from(await raw.arrayBuffer())).toEqual(picture);
    const pointer = await fetch(`${fixture.url}/ada/demo/raw/branch/main/media/dot.png`);
    expect(await pointer.text()).toContain('oid sha256:');
  });

  it.each(screens)('shows visitors readable pages on a screen of %o', async (screen) => {
    await using browserPage = await openAsVisitor('/', screen);
    const paths = ['', '/src/branch/main/media/table.csv', '/commits', '/issues/1', '/releases', '/branches'];
    for (const path of ['/', ...paths.map((entry) => `/ada/demo${entry}`)]) {
      await browserPage.page.goto(`${fixture.url}${path}`);
      await expectFits(browserPage, `visitor${path.replaceAll('/', '-')}`, screen);
    }
  });
});
