import { setTimeout } from 'node:timers/promises';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { adminAuthorization } from '../support/host.ts';
import { daily, day, hour, minute, range, type House, type Moment } from './moment.ts';

/** Synchronized folders, one of them on a disconnected disk, and a large copy that is running. */
export async function sync({ folder, ask, host }: House): Promise<readonly Moment[]> {
  const toPath = (path: string): string => join(folder, path);
  const write = (path: string, size: number): void => {
    mkdirSync(dirname(toPath(path)), { recursive: true });
    writeFileSync(toPath(path), '');
    truncateSync(toPath(path), size);
  };
  const ended = async (job: number): Promise<void> => {
    for (;;) {
      const { job: finishedJob } = await ask('GET', `/sync/jobs/${String(job)}`);
      if (finishedJob.endedAt !== null) return;
      await setTimeout(50);
    }
  };
  const run = async (task: number): Promise<void> => {
    try {
      await ended((await ask('POST', `/sync/tasks/${String(task)}/run`, {})).id);
    } catch (error) {
      // Syncs that the schedule has just started are still running.
      if (!(error instanceof Error) || !error.message.includes('sync.runs')) throw error;
      await setTimeout(100);
      await run(task);
    }
  };
  const save = async (name: string, fields: object): Promise<number> =>
    (await ask('POST', '/sync/tasks', { name, zone: 'Europe/Berlin', retries: 0, ...fields })).id;
  let [photos, music, stick] = [0, 0, 0];
  return [
    {
      ago: 28 * day,
      async run() {
        for (const number of range(0, 60))
          write(`photos/2026/IMG_${String(4000 + number)}.jpg`, 900_000 + number * 1000);
        for (const number of range(0, 12)) write(`music/Harbour songs/${String(number + 1)}.flac`, 2_400_000);
        for (const number of range(0, 8)) write(`papers/2025/letter ${String(number + 1)}.pdf`, 80_000);
        for (const name of ['Harbour at night.mkv', 'The long pier.mkv']) write(`films/${name}`, 400_000_000);
        mkdirSync(toPath('stick'));
        await ask('POST', '/sync/remotes', { name: 'nas', type: 'alias', parameters: { remote: toPath('nas') } });
        // The server is unreachable: the remote is created like rclone clients do, without a connection test.
        await fetch(`${host.url('sync')}/config/create`, {
          method: 'POST',
          headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
          body: JSON.stringify({
            ...{ name: 'attic', type: 'webdav' },
            parameters: {
              url: 'https://attic.home.example/dav',
              vendor: 'other',
              user: 'ada',
              pass: 'the gate is open',
            },
          }),
        });
        mkdirSync(toPath('nas'));
        photos = await save('Photos to the NAS', {
          mode: 'sync',
          source: toPath('photos'),
          destination: 'nas:photos',
          cron: '30 3 * * *',
          keepReplaced: true,
        });
        music = await save('Music to the second disk', {
          mode: 'copy',
          source: toPath('music'),
          destination: toPath('disk2/music'),
          cron: '0 4 * * 0',
        });
        stick = await save('Papers from the stick', {
          mode: 'copy',
          source: toPath('stick'),
          destination: toPath('papers/stick'),
        });
        await save('Films to the television', {
          mode: 'copy',
          source: toPath('films'),
          destination: toPath('television/films'),
        });
        await run(photos);
      },
    },
    ...daily(range(1, 26, 3), 4, async (back) => {
      write(`photos/2026/IMG_${String(5000 + back)}.jpg`, 1_200_000);
      await run(photos);
    }),
    ...daily(range(2, 26, 7), 5, () => run(music)),
    {
      ago: 7 * hour,
      async run() {
        rmSync(toPath('stick'), { recursive: true });
        await run(stick);
      },
    },
    {
      ago: 20 * minute,
      async run() {
        write('photos/2026/IMG_5100.jpg', 1_900_000);
        rmSync(toPath('photos/2026/IMG_4003.jpg'));
        await run(photos);
      },
    },
  ];
}
