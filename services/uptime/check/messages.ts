import type { CertificateChain } from '../../contracts/uptime/views.ts';
import type { HeartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { TargetPolicy } from './target-policy.ts';

/** Where a container engine listens. */
export interface EngineAddress {
  readonly id: number;
  readonly dockerType: 'socket' | 'tcp';
  readonly dockerDaemon: string;
}

/** A monitor as the checker needs it. */
export interface Check {
  readonly id: number;
  readonly config: MonitorConfig;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Checked at once, and not when its turn in the interval comes. */
  readonly now: boolean;
}

/** What a check found out. */
export interface CheckResult {
  readonly id: number;
  /** ms since the epoch, when it began. */
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly msg: string;
  readonly ping: number | null;
  readonly byStatusCode?: boolean;
  /** The target was not asked, because the monitor is not set up for that. */
  readonly notChecked?: boolean;
  /** So many ms after its time it began. */
  readonly lateMs: number;
  /** This process could not run for a while meanwhile: a time-out says nothing of the target then. */
  readonly lagged: boolean;
  /** It failed before the target could have said anything. */
  readonly unreachable?: boolean;
  /** Only where it is another one than last time. */
  readonly certificate?: CertificateChain;
  /** Of {@link ToChecker} `now`. */
  readonly request?: number;
}

/** A container as an engine lists it. */
export interface ListedContainer {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  readonly state: string;
  readonly health: string;
}

export type ToChecker =
  | {
      readonly kind: 'begin';
      readonly journal: string;
      /** Monitors one of which may have ended the process before; at most one of them is checked at a time. */
      readonly suspects: readonly number[];
    }
  | { readonly kind: 'policy'; readonly policy: TargetPolicy }
  | { readonly kind: 'ping' }
  | { readonly kind: 'set'; readonly checks: readonly Check[] }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  | { readonly kind: 'again'; readonly id: number; readonly inMs: number }
  | { readonly kind: 'now'; readonly id: number; readonly request: number }
  | { readonly kind: 'engines'; readonly engines: readonly EngineAddress[] }
  | { readonly kind: 'containers'; readonly request: number; readonly engine: EngineAddress };

export type FromChecker =
  | { readonly kind: 'results'; readonly results: readonly CheckResult[] }
  | {
      readonly kind: 'containers';
      readonly request: number;
      readonly containers?: readonly ListedContainer[];
      readonly trouble?: string;
    }
  /** The answer to `ping`. */
  | { readonly kind: 'pong' }
  /** The machine slept, or this process could not run, for so many ms. */
  | { readonly kind: 'slept'; readonly ms: number };
