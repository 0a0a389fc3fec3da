import { z } from 'zod';
import { defineTopic, type Bus } from '../../../services/contracts/bus.ts';

/** Published when a stored key of a service was replaced, since the service of each host holds it in memory. */
const storedKeyReplaced = defineTopic('host.key-replaced', z.object({ service: z.string() }), { shared: true });

/** Notifies the other hosts that a stored key of a service was replaced. */
export function announceReplacedKey(bus: Bus, service: string): void {
  bus.publish(storedKeyReplaced, { service });
}

/** Restarts services whose key another host has replaced, until it is disposed. */
export function followReplacedKeys(bus: Bus, runners: ReadonlyMap<string, { restart(): Promise<void> }>): Disposable {
  const restart = ({ service }: { readonly service: string }): void => void runners.get(service)?.restart();
  return bus.subscribe(storedKeyReplaced, restart, 'other hosts');
}
