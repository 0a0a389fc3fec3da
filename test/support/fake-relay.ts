import { createBus } from '../../main/host/services/bus.ts';
import type { RelayListener } from '../../main/host/relay/relay.ts';
import type { Bus } from '../../services/contracts/bus.ts';
import { silentLog } from './database-location.ts';

/** Buses of two hosts whose events tests can hold back. */
export interface ConnectedBuses {
  readonly first: Bus;
  readonly second: Bus;
  /** Number of events that were sent. */
  readonly sent: () => number;
  /** While true, events are lost. */
  isDown: boolean;
  /** Reports on both hosts that events were lost. */
  reconnect(): void;
}

/** Connects the buses of two hosts in this process. */
export function connectBuses(): ConnectedBuses {
  const listeners: RelayListener[] = [];
  let sent = 0;
  const open = (index: number): Bus =>
    createBus(silentLog, undefined, {
      listen: (listener) => void (listeners[index] = listener),
      send(topic, data) {
        sent += 1;
        if (!buses.isDown) listeners[1 - index]?.event(topic, JSON.parse(JSON.stringify(data)));
      },
    });
  const buses: ConnectedBuses = {
    first: open(0),
    second: open(1),
    sent: () => sent,
    isDown: false,
    reconnect() {
      buses.isDown = false;
      for (const listener of listeners) listener.missed(true);
    },
  };
  return buses;
}
