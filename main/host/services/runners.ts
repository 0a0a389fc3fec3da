import type { PortTarget, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import type { OwnPart } from '../backup/write.ts';
import type { ServiceRunner } from './service-runner.ts';

/** The services of the host by their ids. */
type Runners = ReadonlyMap<string, ServiceRunner>;

/** What those that run back up themselves. */
export function ownParts(runners: Runners): readonly OwnPart[] {
  return [...runners].flatMap(([id, { service, descriptor }]) => {
    if (service?.backup === undefined) return [];
    const write = async (folder: string): Promise<void> => await service.backup?.(folder);
    return [{ id, uncopied: descriptor.excludedFromCopy ?? [], write }];
  });
}

/** Of all listeners that are open. */
export function addressesOf(runners: Runners): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [id, runner] of runners) {
    for (const { name } of runner.state.listeners) {
      const address = runner.address(name);
      if (address !== undefined) found[nameOf(id, runner, name)] = address;
    }
  }
  return found;
}

/** Why what does not run does not. */
export function failuresOf(runners: Runners): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [id, runner] of runners) {
    const { state, reason, listeners } = runner.state;
    if (state === 'failed') found[id] = reason ?? '';
    else for (const each of listeners) if (each.reason !== null) found[nameOf(id, runner, each.name)] = each.reason;
  }
  return found;
}

/** Their listeners that speak something else than HTTP. */
export function portsOf(runners: Runners): readonly PortTarget[] {
  return [...runners].flatMap(([service, runner]) =>
    (runner.descriptor.listeners ?? [])
      .filter(({ protocol }) => protocol === 'tcp')
      .map(({ name, title, scheme = 'tcp', whenShared }) => {
        const address = runner.address(name);
        const port = address === undefined ? undefined : Number(new URL(address).port);
        const words = whenShared === undefined ? {} : { whenShared };
        return { id: nameOf(service, runner, name), service, title, scheme, port, ...words };
      }),
  );
}

/** What takes connections for the port of this id. */
export function takerOf(runners: Runners, id: string): ConnectionHandler | undefined {
  const [service = '', listener] = id.split('.');
  const runner = runners.get(service);
  return runner?.taker(listener ?? runner.descriptor.listeners?.[0]?.name ?? '');
}

/** The main listener is known by its service. */
function nameOf(id: string, { descriptor }: ServiceRunner, listener: string): string {
  return descriptor.listeners?.[0]?.name === listener ? id : `${id}.${listener}`;
}
