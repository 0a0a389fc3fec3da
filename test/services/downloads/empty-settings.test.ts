import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeEngine, openRig } from './rig.ts';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'homeport-empty-settings-'))));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the templates with which the engine downloads the video of a channel and that of a playlist. */
async function templatesFor(name: string, environment: Record<string, string>): Promise<readonly string[]> {
  const engine = join(folder, name);
  mkdirSync(engine);
  const list = (id: string, title: string): string =>
    JSON.stringify({
      ...{ _type: 'playlist', id, title, channel: 'Cooks', channel_id: 'UC1' },
      entries: [{ _type: 'url', id, url: `https://video.example/${id}/v`, title: 'One', duration: 5 }],
    });
  const script = `
case "$*" in
  *" -J "*UC1*) echo '${list('UC1', 'Cooks - Videos')}' ;;
  *" -J "*PL1*) echo '${list('PL1', 'Soups')}' ;;
  *)
    while [ $# -gt 1 ]; do
      case "$1 $2" in "-o "*) echo "$2" >> '${join(engine, 'templates')}' ;; "-P home:"*) home="\${2#home:}" ;; esac
      shift
    done
    mkdir -p "$home" && echo video > "$home/One.mp4"
    echo 'A {"filepath": "'"$home"'/One.mp4"}' ;;
esac`;
  await using rig = await openRig({
    environment: {
      ...fakeEngine(engine, script),
      ...{ OUTPUT_TEMPLATE: '%(title)s [x].%(ext)s', DOWNLOAD_MODE: 'sequential' },
      ...environment,
    },
  });
  for (const id of ['UC1', 'PL1']) {
    const body = { url: `https://video.example/${id}`, quality: 'best', format: 'any' };
    const { uids = [], uid } = await rig.client.post('/add', body);
    for (const entry of uid === undefined ? uids : [uid]) await rig.client.ended(entry);
  }
  return readFileSync(join(engine, 'templates'), 'utf8').trim().split('\n');
}

describe('an empty variable', () => {
  it.each([
    ['channel', { OUTPUT_TEMPLATE_CHANNEL: '' }, [true, false]],
    ['playlist', { OUTPUT_TEMPLATE_PLAYLIST: '' }, [false, true]],
    ['both', { OUTPUT_TEMPLATE_CHANNEL: '', OUTPUT_TEMPLATE_PLAYLIST: '' }, [true, true]],
    ['neither', {}, [false, false]],
  ])('uses the general template for entries of a %s', async (name, environment, expected) => {
    const templates = await templatesFor(name, environment);
    expect(templates.map((template) => template === '%(title)s [x].%(ext)s')).toEqual(expected);
  });

  it('excludes only hidden folders when CUSTOM_DIRS_EXCLUDE_REGEX is empty', async () => {
    const offered = async (environment: Record<string, string>): Promise<unknown> => {
      const files = mkdtempSync(join(folder, 'files-'));
      for (const path of ['@eaDir', 'shows/@old', '.hidden']) mkdirSync(join(files, path), { recursive: true });
      await using rig = await openRig({ environment: { DOWNLOAD_DIR: files, ...environment } });
      const socket = io(rig.client.base, { reconnection: false, forceNew: true });
      try {
        const event = Promise.withResolvers<string>();
        socket.on('custom_dirs', event.resolve);
        socket.on('connect_error', event.reject);
        return JSON.parse(await event.promise).download_dir;
      } finally {
        socket.disconnect();
      }
    };
    expect(await offered({})).toEqual(['', 'shows']);
    expect(await offered({ CUSTOM_DIRS_EXCLUDE_REGEX: '' })).toEqual(['', '@eaDir', 'shows', 'shows/@old']);
    expect(await offered({ CUSTOM_DIRS_EXCLUDE_REGEX: '^shows' })).toEqual(['', '@eaDir']);
  });
});
