import { EventEmitter } from 'node:events';
import type { LoggedFileError } from '../engine/engine.ts';
import type { Job } from './job.ts';

interface Events {
  /** The engine logged an error about a file. */
  readonly fileError: [error: LoggedFileError];
  /** A job was started or made progress. */
  readonly jobChange: [job: Job];
  readonly jobEnd: [job: Job];
}

/**
 * Events within the service. The engine and the jobs emit them; parts that are created later subscribe. Listeners are
 * called synchronously.
 */
export class SyncEvents extends EventEmitter<Events> {}
