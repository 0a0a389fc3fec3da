import type { CertificateChain } from '../../contracts/uptime/views.ts';
import type { HeartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { EngineAddress, ProxyAddress } from './messages.ts';

/** Input of one check. */
export interface CheckContext {
  readonly id: number;
  readonly config: MonitorConfig;
  /** Aborted at the timeout, with the error to report as its reason. */
  readonly signal: AbortSignal;
  readonly onChain: (chain: () => CertificateChain, fingerprint: string) => void;
  readonly engine: (id: number) => EngineAddress | undefined;
  readonly proxies: ReadonlyMap<number, ProxyAddress>;
}

/** Result of a check that did not throw. */
export interface CheckOutcome {
  readonly status: HeartbeatStatus;
  readonly msg: string;
  /** Response time in milliseconds; defaults to the duration of the check. */
  readonly ping?: number | null;
}
