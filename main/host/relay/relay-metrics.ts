import type { Counter, Metrics } from '../../../services/contracts/metrics.ts';

/** Counters of the exchange of events between hosts. */
export interface RelayCounters {
  readonly sent: Counter;
  readonly received: Counter;
  /** Times after which events of other hosts may have been lost. */
  readonly gaps: Counter;
  readonly rejected: Counter;
}

/** Registers the metrics of the exchange of events between hosts. */
export function countRelay(
  metrics: Metrics,
  state: { readonly isConnected: () => boolean; readonly countPeers: () => number },
): RelayCounters {
  const count = (name: string, help: string): Counter => metrics.counter({ name, help, initial: [{}] });
  metrics.gauge({
    name: 'relay_connected',
    help: '1 while events are exchanged with other hosts.',
    collect: () => Number(state.isConnected()),
  });
  metrics.gauge({ name: 'relay_hosts', help: 'Other hosts that are connected.', collect: state.countPeers });
  return {
    sent: count('relay_events_sent_total', 'Events sent to other hosts.'),
    received: count('relay_events_received_total', 'Events received from other hosts.'),
    gaps: count('relay_gaps_total', 'Connections and interruptions after which the database was read.'),
    rejected: count('relay_messages_rejected_total', 'Messages that no host of this installation sent.'),
  };
}
