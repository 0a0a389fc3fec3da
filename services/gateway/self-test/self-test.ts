import type { SelfTest, SharedPort, Visitor } from '../../contracts/gateway/api.ts';
import { formatForUrl } from '../domain/names.ts';
import { findTlsFailure, findTrustPageFailure, findPortFailure } from './reach.ts';

/** Targets of the test in the current network. */
export interface TestSetup {
  readonly base: string;
  readonly authority: string | undefined;
  /** Open ports by address. */
  readonly listeners: readonly {
    readonly address: string;
    readonly https?: number | undefined;
    readonly http?: number | undefined;
  }[];
  readonly shared: readonly { readonly title: string; readonly host: string; readonly running: boolean }[];
  /** Shared TCP ports with their addresses. */
  readonly ports: readonly Pick<SharedPort, 'id' | 'title' | 'running' | 'addresses'>[];
  readonly announces: boolean;
  readonly announced: readonly string[];
  readonly visitors: readonly Visitor[];
}

/** Connects as a device of each network would, and returns the problems as messages. */
export async function runSelfTest(setup: TestSetup): Promise<SelfTest> {
  const { shared, ports, visitors } = setup;
  if (shared.length === 0 && ports.length === 0)
    return { checks: [{ ok: false, text: 'Nothing is shared, so nothing listens.' }], visitors: [] };
  if (setup.listeners.length === 0) {
    return { checks: [{ ok: false, text: 'This machine has no address on a network that is let in.' }], visitors: [] };
  }
  const listeners = shared.length === 0 ? [] : setup.listeners.map((listener) => checkAddress(setup, listener));
  const checks = (await Promise.all([...listeners, ...ports.map((port) => checkPort(setup, port))])).flat();
  const names = shared.length === 0 ? [] : checkNames(setup);
  return { checks: [...checks, ...names, ...checkServices(setup), ...checkClients(setup)], visitors: [...visitors] };
}

type Check = SelfTest['checks'][number];

async function checkAddress(
  { base, authority, shared }: TestSetup,
  { address, https, http }: TestSetup['listeners'][number],
): Promise<Check[]> {
  const urlHost = formatForUrl(address);
  const hosts = [base, ...shared.map(({ host }) => host)];
  const tlsFailure =
    https === undefined
      ? 'the port could not be opened'
      : (await Promise.all(hosts.map((host) => findTlsFailure({ address, port: https, host, authority })))).find(
          (each) => each !== undefined,
        );
  const pageFailure =
    http === undefined ? 'the port could not be opened' : await findTrustPageFailure({ address, port: http });
  return [
    tlsFailure === undefined
      ? {
          ok: true,
          text: `https://${urlHost}:${String(https)} answers by TLS, and its certificate is right for every name.`,
        }
      : {
          ok: false,
          text: `https://${urlHost}${https === undefined ? '' : `:${String(https)}`} cannot be used: ${tlsFailure}.`,
        },
    pageFailure === undefined
      ? { ok: true, text: `The page to trust this machine answers on http://${urlHost}:${String(http)}.` }
      : { ok: false, text: `The page to trust this machine cannot be used on ${urlHost}: ${pageFailure}.` },
  ];
}

/** Reports a port that must be reachable at every address. */
async function checkPort(
  { listeners }: TestSetup,
  { title, running, addresses }: TestSetup['ports'][number],
): Promise<Check[]> {
  if (!running) return [{ ok: false, text: `${title} is shared but does not run.` }];
  const closed = listeners
    .filter(({ address }) => !addresses.some((url) => new URL(url).hostname === formatForUrl(address)))
    .map(({ address }) => ({
      ok: false,
      text: `${title} cannot be used at ${address}: the port could not be opened.`,
    }));
  const openPorts = addresses.map(async (url) => {
    const failure = await findPortFailure(url);
    return failure === undefined
      ? { ok: true, text: `${title} answers at ${url}.` }
      : { ok: false, text: `${title} cannot be used at ${url}: ${failure}.` };
  });
  return [...closed, ...(await Promise.all(openPorts))];
}

function checkNames({ announces, announced, base, shared }: TestSetup): Check[] {
  if (!announces)
    return [{ ok: true, maybeMeant: true, text: 'Names are not announced: devices need addresses or a name server.' }];
  const missing = [base, ...shared.map(({ host }) => host)].filter((name) => !announced.includes(name));
  if (missing.length > 0) return [{ ok: false, text: `Not announced on the network: ${missing.join(', ')}.` }];
  return [{ ok: true, text: `Devices find ${base} and the names below it by themselves.` }];
}

function checkServices({ shared }: TestSetup): Check[] {
  return shared
    .filter(({ running }) => !running)
    .map(({ title }) => ({ ok: false, text: `${title} is shared but does not run.` }));
}

/** Only another computer can verify that a firewall passes packets. */
function checkClients(setup: TestSetup): Check[] {
  const { visitors, ports } = setup;
  const connectedClient = visitors.find(({ letIn }) => letIn);
  const refused = visitors.find(({ letIn }) => !letIn);
  const portTitle = ports.find(({ id }) => id === refused?.port)?.title;
  const refusedChecks =
    refused === undefined
      ? []
      : [
          {
            ...{ ok: false, maybeMeant: true },
            text:
              `${refused.address} knocked${portTitle === undefined ? '' : ` at ${portTitle}`} and was turned ` +
              'away: its network is not among those that are let in there.',
          },
        ];
  if (connectedClient !== undefined)
    return [
      { ok: true, text: `Another device, ${connectedClient.address}, has got through since the start.` },
      ...refusedChecks,
    ];
  return refusedChecks.length > 0 ? refusedChecks : [checkNoClients(setup)];
}

function checkNoClients({ listeners, ports }: TestSetup): Check {
  const tcpPorts = ports.flatMap(({ addresses }) => addresses.map((url) => Number(new URL(url).port)));
  const allPorts = new Set([...listeners.flatMap(({ https, http }) => [https, http]), ...tcpPorts]);
  const open = [...allPorts].filter((port) => port !== undefined);
  return {
    ok: true,
    maybeMeant: true,
    text:
      `No other device has connected since the start. If a phone cannot, let TCP ${open.join(' and ')} ` +
      'through the firewall of this machine, and look whether the phone is in a guest network.',
  };
}
