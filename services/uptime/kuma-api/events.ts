import type { Credentials, Identity } from '../../contracts/control/accounts.ts';
import type { Context } from '../../contracts/service.ts';
import type { Checker } from '../check/checker.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import type { BeatStore } from '../store/heartbeats.ts';
import type { BucketStore } from '../store/buckets.ts';
import type { DockerHosts } from '../store/docker-hosts.ts';
import type { Notifications } from '../store/notifications.ts';
import type { StatusPages } from '../store/status-pages.ts';
import type { Tags } from '../store/tags.ts';
import type { Figures } from '../monitoring/statistics.ts';
import type { Maintenances } from '../monitoring/maintenances.ts';
import type { Monitors } from '../monitoring/monitors.ts';
import type { Options } from '../monitoring/options.ts';
import type { Recorder } from '../monitoring/recorder.ts';

export interface SocketParts {
  readonly context: Context;
  readonly monitors: Monitors;
  readonly beats: BeatStore;
  readonly buckets: BucketStore;
  readonly recorder: Recorder;
  readonly figures: Figures;
  readonly dockerHosts: DockerHosts;
  readonly checker: Checker;
  readonly pages: StatusPages;
  readonly tags: Tags;
  readonly keys: ApiKeys;
  readonly options: Options;
  readonly maintenances: Maintenances;
  readonly notifications: Notifications;
  /** Sends a list to all clients that may have it; `forWriters` to those that may change things. */
  readonly broadcast: (event: string, list: unknown, forWriters: unknown) => void;
}

/** A token or the secret of a session. */
export type Proof = Pick<Credentials, 'authorization' | 'session'>;

/** A client and who it is. */
export interface Session {
  /** Undefined: nobody has signed up yet on this machine. */
  identity: Identity | undefined;
  /** What it signed in with; it is asked again whether that is still valid. */
  proof: Proof | undefined;
  signedIn: boolean;
  readonly remoteAddress: string;
  readonly foreignSite: boolean;
  readonly userAgent: string;
  /** Pushes an event to this client. */
  readonly emit: (event: string, ...args: readonly unknown[]) => void;
}

/** What a call answers besides `ok`; of a bare value as it is. */
type Answer = Readonly<Record<string, unknown>>;

/** A call of the peer's protocol. */
export interface SocketEvent {
  /** Who may make it. */
  readonly needs: 'nobody' | 'read' | 'write';
  /** @throws Problem with what to say */
  readonly run: (session: Session, ...args: readonly unknown[]) => Promise<Answer | boolean> | Answer | boolean;
}

export type SocketEvents = Readonly<Record<string, SocketEvent>>;

/** A translation key of the peer's pages, as its answers have them. */
export function said(msg: string, more: Answer = {}): Answer {
  return { msg, msgi18n: true, ...more };
}

export function numberOf(value: unknown): number {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? Number(value) : Number.NaN;
  return Number.isSafeInteger(number) ? number : 0;
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
