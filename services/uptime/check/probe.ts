import type { CertificateChain } from '../../contracts/uptime/views.ts';
import type { HeartbeatStatus, MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { EngineAddress } from './messages.ts';

/** What a kind of check is given. */
export interface ProbeOrder {
  readonly id: number;
  readonly config: MonitorConfig;
  /** Aborted when its time is over; the reason is an error that says so. */
  readonly signal: AbortSignal;
  readonly onChain: (chain: () => CertificateChain, fingerprint: string) => void;
  readonly engine: (id: number) => EngineAddress | undefined;
}

/** What a check that did not throw found. */
export interface Found {
  readonly status: HeartbeatStatus;
  readonly msg: string;
  /** Without it the time that the check took. */
  readonly ping?: number | null;
}
