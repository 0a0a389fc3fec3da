import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';

let fixture: GitFixture;
beforeAll(async () => {
  fixture = await openGitFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Pushes a repository with these files in its template folder. */
async function pushed(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  await fixture.create(name, { auto_init: true });
  const work = Object.entries(files).map(([path, text]) => ({
    operation: 'create',
    path: `.gitea/ISSUE_TEMPLATE/${path}`,
    content: Buffer.from(text).toString('base64'),
  }));
  expect((await fixture.api('POST', `/repos/ada/${name}/contents`, { files: work })).status).toBe(201);
}
const request = async (path: string): Promise<any> =>
  (await fixture.api('GET', `/repos/ada/${path}`, undefined, '')).json();
const template = (name: string, text = '') => `---\nname: ${name}\nabout: Something\n---\n${text}`;

it('reads issue templates up to a maximum number and size', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 55 }, (_, index) => [`t${10 + index}.md`, template(`T${index}`)]),
  );
  await pushed('many', { ...many, 'a.txt': 'none', 'b.md': template('Large', 'x'.repeat(65_536)), 'z.yml': 'none' });
  const templates = (await request('many/issue_templates')) as { name: string }[];
  // The large file is one of the fifty files that are read.
  expect(templates.map(({ name }) => name)).toEqual(Array.from({ length: 49 }, (_, index) => `T${index}`));
  const wide = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`w${10 + index}.md`, template('W', 'x'.repeat(60_000))]),
  );
  await pushed('wide', wide);
  expect(await request('wide/issue_templates')).toHaveLength(17);
});

it('stops parsing a template that takes too long', async () => {
  await pushed('deep', { 'config.yml': '? '.repeat(300) });
  using delays = monitorEventLoopDelay();
  delays.enable();
  expect(await request('deep/issue_config')).toEqual({ blank_issues_enabled: true, contact_links: [] });
  expect(delays.max / 1e9).toBeLessThan(60);
});
