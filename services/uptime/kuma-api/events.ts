import { z } from 'zod';
import type { Credentials, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Checker } from '../check/checker.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import type { HeartbeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import type { DockerHosts } from '../store/docker-hosts.ts';
import type { Notifications } from '../store/notifications.ts';
import type { StatusPages } from '../store/status-pages.ts';
import type { Tags } from '../store/tags.ts';
import type { Statistics } from '../monitoring/statistics.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Options } from '../monitoring/options.ts';
import type { Recorder } from '../monitoring/recorder.ts';

export interface SocketDependencies {
  readonly context: Context;
  readonly monitors: Monitors;
  readonly beats: HeartbeatStore;
  readonly buckets: BucketStore;
  readonly recorder: Recorder;
  readonly figures: Statistics;
  readonly dockerHosts: DockerHosts;
  readonly checker: Checker;
  readonly pages: StatusPages;
  readonly tags: Tags;
  readonly keys: ApiKeys;
  readonly options: Options;
  readonly maintenances: Maintenances;
  readonly notifications: Notifications;
  /**
   * Sends a list to all permitted clients.
   * @param forWriters List for clients with write permission
   */
  readonly broadcast: (event: string, list: unknown, forWriters: unknown) => void;
}

/** Token or session secret. */
export type Proof = Pick<Credentials, 'authorization' | 'session'>;

/** Connected client. */
export interface Session {
  /** Undefined while no account exists. */
  identity: Identity | undefined;
  /** Credentials of the sign-in, which are verified again regularly. */
  proof: Proof | undefined;
  signedIn: boolean;
  readonly remoteAddress: string;
  readonly foreignSite: boolean;
  readonly userAgent: string;
  readonly emit: (event: string, ...args: readonly unknown[]) => void;
}

/** Fields of an answer in addition to `ok`. */
type Answer = Readonly<Record<string, unknown>>;

/** Call of the Uptime Kuma protocol. */
export interface SocketEvent {
  /** Required permission. */
  readonly needs: 'nobody' | 'read' | 'write';
  /** @throws Problem with the message of the answer */
  readonly run: (session: Session, ...args: readonly unknown[]) => Promise<Answer | boolean> | Answer | boolean;
}

export type SocketEvents = Readonly<Record<string, SocketEvent>>;

/** Returns an answer with a translation key of Uptime Kuma. */
export function toTranslatedMessage(msg: string, more: Answer = {}): Answer {
  return { msg, msgi18n: true, ...more };
}

export function toNumber(value: unknown): number {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : 0;
}

export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** @throws Problem `uptime.invalid` (400) */
export function parseInput<T>(schema: z.ZodType<T>, input: unknown): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Problem('uptime.invalid', 400, z.prettifyError(parsed.error));
}
