import type { CertificateChain } from '../../contracts/uptime/views.ts';
import type { CodedFailure } from '../../contracts/uptime/causes.ts';
import type { HeartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { Proxy } from '../../contracts/uptime/proxies.ts';
import type { TargetPolicy } from './target-policy.ts';

export interface EngineAddress {
  readonly id: number;
  readonly dockerType: 'socket' | 'tcp';
  readonly dockerDaemon: string;
}

/** Proxy in the form that the checker process uses; the fields of a sign-in are set only if it is used. */
export interface ProxyAddress {
  readonly id: number;
  readonly protocol: Proxy['protocol'];
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  readonly active: boolean;
}

/** Monitor in the form that the checker process uses. */
export interface Check {
  readonly id: number;
  readonly config: MonitorConfig;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Checks the monitor immediately instead of at its next scheduled time. */
  readonly now: boolean;
}

/** Result of one check. */
export interface CheckResult {
  readonly id: number;
  /** Start of the check, in milliseconds since the epoch. */
  readonly at: number;
  readonly status: HeartbeatStatus;
  readonly msg: string;
  /** Failure that the check states. */
  readonly failure?: CodedFailure;
  readonly ping: number | null;
  readonly byStatusCode?: boolean;
  /** The target was not contacted because the settings of the monitor do not allow it. */
  readonly notChecked?: boolean;
  /** Delay between the scheduled and the actual start, in milliseconds. */
  readonly lateMs: number;
  /** The process was blocked during the check, so that a timeout does not indicate a fault of the target. */
  readonly lagged: boolean;
  /** The check failed before the target responded. */
  readonly unreachable?: boolean;
  /** Set only when the certificate changed since the last check. */
  readonly certificate?: CertificateChain;
  /** Identifies the `now` request of {@link ToChecker}. */
  readonly request?: number;
}

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
      /** Monitors of which one may have ended the process. At most one of them is checked at a time. */
      readonly suspects: readonly number[];
    }
  | { readonly kind: 'policy'; readonly policy: TargetPolicy }
  | { readonly kind: 'ping' }
  | { readonly kind: 'set'; readonly checks: readonly Check[] }
  | { readonly kind: 'remove'; readonly ids: readonly number[] }
  | { readonly kind: 'again'; readonly id: number; readonly inMs: number }
  | { readonly kind: 'now'; readonly id: number; readonly request: number }
  | { readonly kind: 'engines'; readonly engines: readonly EngineAddress[] }
  | { readonly kind: 'proxies'; readonly proxies: readonly ProxyAddress[] }
  | { readonly kind: 'containers'; readonly request: number; readonly engine: EngineAddress };

export type FromChecker =
  | { readonly kind: 'results'; readonly results: readonly CheckResult[] }
  | {
      readonly kind: 'containers';
      readonly request: number;
      readonly containers?: readonly ListedContainer[];
      readonly error?: string;
    }
  /** Response to `ping`. */
  | { readonly kind: 'pong' }
  /** Reports that the computer slept, or that the process could not run, for this many milliseconds. */
  | { readonly kind: 'slept'; readonly ms: number };
