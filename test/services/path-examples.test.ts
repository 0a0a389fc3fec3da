import { globSync, readFileSync } from 'node:fs';
import { join, posix, win32 } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { groupFields } from '../../renderer/src/pages/sync/remotes/remote-kinds.ts';
import { getServerPathExamples, setServerPlatform } from '../../renderer/src/state/server-platform.ts';
import { getPathExamples } from '../../services/contracts/path-examples.ts';
import { parseLocation } from '../../services/sync/domain/location.ts';

afterEach(() => setServerPlatform(''));

it.each(['linux', 'darwin', 'win32'])('names only folders that exist in the notation of %s', (platform) => {
  const examples = getPathExamples(platform);
  const paths = platform === 'win32' ? win32 : posix;
  for (const path of Object.values(examples) as string[]) expect([path, paths.isAbsolute(path)]).toEqual([path, true]);
  expect(parseLocation(examples.photos, platform === 'win32')).toEqual({ kind: 'local', path: examples.photos });
});

it('shows the examples of the system that the host runs on, not of the browser', () => {
  expect(getServerPathExamples().photos).toBe('/home/ada/Photos');
  setServerPlatform('win32');
  expect(getServerPathExamples()).toMatchObject({
    photos: 'C:/Users/ada/Photos',
    dockerSocket: '//./pipe/docker_engine',
  });
  const field = { name: 'key_file', help: '', kind: 'text', advanced: false };
  const { first } = groupFields(
    'sftp',
    [field as unknown as Parameters<typeof groupFields>[1][number]],
    getServerPathExamples(),
  );
  expect(first[0]?.help).toBe('On this computer, such as C:/Users/ada/.ssh/id_ed25519.');
});

it('keeps examples of one system out of the pages', () => {
  const root = join(import.meta.dirname, '../..');
  const files = globSync(['messages/en/*.json', 'renderer/src/**/*.svelte'], { cwd: root });
  expect(files.length).toBeGreaterThan(100);
  const isExample = (line: string): boolean =>
    /[^\w.:](?:\/(?:home|mnt|srv|Users|Volumes)\/)|\/docker\.sock/.test(line);
  const lines = files
    .filter((file) => !file.includes('/gallery/'))
    .flatMap((file) => readFileSync(join(root, file), 'utf8').split('\n').filter(isExample));
  expect(lines).toEqual([]);
});
