// Started by run.ts as a separate process: executes a program, records the events, and kills itself at a given moment.
import { appendFileSync } from 'node:fs';
import { openDatabase } from '../../../../main/host/database/open.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { silentLog, type DatabaseLocation } from '../../../support/database-location.ts';
import { smallDisk } from './disk.ts';
import type { Event } from './history.ts';
import { Living } from './life.ts';
import type { Step } from './program.ts';

export interface Doomed {
  readonly location: DatabaseLocation;
  readonly file: string;
  readonly program: readonly Step[];
  readonly base: number;
  readonly knownIds: readonly (readonly [string, number])[];
  readonly start: number;
  /** Number of events until the kill. */
  readonly moments: number;
  readonly mounted: boolean;
}

const { location, file, program, base, knownIds, start, moments, mounted } = JSON.parse(
  process.argv[2] ?? '{}',
) as Doomed;
let seen = 0;
const record = (event: Event): void => {
  if (event.what !== 'moment') appendFileSync(file, `${JSON.stringify({ ...event, now: clock.now() })}\n`);
  seen += 1;
  if (seen >= moments) process.kill(process.pid, 'SIGKILL');
};
const clock = createFakeClock(start);
const database = await openDatabase({ ...location, log: silentLog });
const disk = smallDisk(location.folder, mounted, database);
await disk?.free();
const living = await Living.begin({ databases: [database], clock, record, disk, base, knownIds: new Map(knownIds) });
await living.execute(program);
await living.end();
await database[Symbol.asyncDispose]();
