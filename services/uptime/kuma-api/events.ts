import { z } from 'zod';
import type { Credentials, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { StatusPages } from '../store/status-pages.ts';
import type { UptimeStores } from '../store/stores.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';
import type { Options } from '../monitoring/options.ts';

/** Collaborators of the calls. */
export interface SocketDependencies {
  readonly context: Context;
  readonly monitoring: Monitoring;
  readonly stores: UptimeStores;
  readonly pages: StatusPages;
  readonly options: Options;
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

export function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
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
