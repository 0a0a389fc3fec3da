import type { HostProblem } from '../../../services/contracts/control/hosts.ts';
import type { PortTarget, ConnectionHandler } from '../../../services/contracts/dispatch.ts';
import { Router } from '../../../services/kit/http/router.ts';
import { readText } from '../../../services/contracts/text.ts';
import type { ServicePart } from '../backup/write.ts';
import type { ServiceRunner } from './service-runner.ts';

/** Maximum length of the reason of a problem in the list of hosts. */
const maxReasonLength = 500;

/** Services of the host by id. */
type Runners = ReadonlyMap<string, ServiceRunner>;

/** Returns the parts that running services back up themselves. */
export function getBackupParts(runners: Runners): readonly ServicePart[] {
  return [...runners].flatMap(([id, { service, descriptor }]) => {
    if (service?.backup === undefined) return [];
    const write = async (folder: string): Promise<void> => await service.backup?.(folder);
    return [{ id, excludedFromCopy: descriptor.excludedFromCopy ?? [], write }];
  });
}

/** Paths of the app API, which begin with the id of the service that answers them. */
const servicePaths = new Router([
  { method: 'GET', path: '/api/:service' },
  { method: 'GET', path: '/api/:service/*path' },
]);

/** Loads the service whose routes contain a path of the app API, if it waits for its first request. */
export async function loadServiceFor(runners: Runners, path: string): Promise<void> {
  const id = servicePaths.find('GET', path)?.params['service'];
  if (id !== undefined) await runners.get(id)?.load();
}

/** Returns the addresses of all open listeners. */
export function getAddresses(runners: Runners): Record<string, string> {
  const target: Record<string, string> = {};
  for (const [id, runner] of runners) {
    for (const { name } of runner.status.listeners) {
      const address = runner.address(name);
      if (address !== undefined) target[getListenerName(id, runner, name)] = address;
    }
  }
  return target;
}

/** Returns the services that failed or work only partially, with texts in the current language. */
export function getProblems(runners: Runners): readonly HostProblem[] {
  return [...runners.values()].flatMap((runner) => {
    const { state, title, reason } = runner.state;
    const isProblem = (state === 'failed' || state === 'degraded') && reason !== null;
    return isProblem ? [{ service: title, reason: reason.slice(0, maxReasonLength) }] : [];
  });
}

/** Returns the failure reasons of services and listeners. */
export function getFailures(runners: Runners): Record<string, string> {
  const target: Record<string, string> = {};
  for (const [id, runner] of runners) {
    const { state, reason, listeners } = runner.state;
    if (state === 'failed') target[id] = reason ?? '';
    else
      for (const each of listeners)
        if (each.reason !== null) target[getListenerName(id, runner, each.name)] = each.reason;
  }
  return target;
}

/** Returns the listeners for protocols other than HTTP, with texts in the current language. */
export function getPortTargets(runners: Runners): readonly PortTarget[] {
  return [...runners].flatMap(([service, runner]) =>
    (runner.descriptor.listeners ?? [])
      .filter(({ protocol }) => protocol === 'tcp')
      .map(({ name, title, scheme = 'tcp', whenShared }) => {
        const address = runner.address(name);
        const port = address === undefined ? undefined : Number(new URL(address).port);
        const sharingText = whenShared === undefined ? {} : { whenShared: readText(whenShared) };
        const id = getListenerName(service, runner, name);
        return { id, service, title: readText(title), scheme, port, ...sharingText };
      }),
  );
}

/** Returns the connection handler for a port id. */
export function findConnectionHandler(runners: Runners, id: string): ConnectionHandler | undefined {
  const [service = '', listener] = id.split('.');
  const runner = runners.get(service);
  return runner?.getConnectionHandler(listener ?? runner.descriptor.listeners?.[0]?.name ?? '');
}

/** The main listener has the name of its service. */
function getListenerName(id: string, { descriptor }: ServiceRunner, listener: string): string {
  return descriptor.listeners?.[0]?.name === listener ? id : `${id}.${listener}`;
}
