import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGitRoom, type GitRoom } from './git-fixture.ts';

let room: GitRoom;
beforeAll(async () => {
  room = await openGitRoom();
});
afterAll(() => room[Symbol.asyncDispose]());

/** A repository with these files in its folder of templates. */
async function pushed(name: string, files: Readonly<Record<string, string>>): Promise<void> {
  await room.create(name, { auto_init: true });
  const work = Object.entries(files).map(([path, text]) => ({
    operation: 'create',
    path: `.gitea/ISSUE_TEMPLATE/${path}`,
    content: Buffer.from(text).toString('base64'),
  }));
  expect((await room.api('POST', `/repos/ada/${name}/contents`, { files: work })).status).toBe(201);
}
const asked = async (path: string): Promise<any> => (await room.api('GET', `/repos/ada/${path}`, undefined, '')).json();
const template = (name: string, text = '') => `---\nname: ${name}\nabout: Something\n---\n${text}`;

it('templates of issues are read up to a number and a size', async () => {
  const many = Object.fromEntries(Array.from({ length: 55 }, (_, at) => [`t${10 + at}.md`, template(`T${at}`)]));
  await pushed('many', { ...many, 'a.txt': 'none', 'b.md': template('Large', 'x'.repeat(65_536)), 'z.yml': 'none' });
  const found = (await asked('many/issue_templates')) as { name: string }[];
  // The large one is one of the fifty that are looked at.
  expect(found.map(({ name }) => name)).toEqual(Array.from({ length: 49 }, (_, at) => `T${at}`));
  const wide = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`w${10 + at}.md`, template('W', 'x'.repeat(60_000))]),
  );
  await pushed('wide', wide);
  expect(await asked('wide/issue_templates')).toHaveLength(17);
});

it('one that takes the parser for ever holds up nobody', async () => {
  await pushed('deep', { 'config.yml': '? '.repeat(300) });
  using delays = monitorEventLoopDelay();
  delays.enable();
  expect(await asked('deep/issue_config')).toEqual({ blank_issues_enabled: true, contact_links: [] });
  expect(delays.max / 1e9).toBeLessThan(60);
});
