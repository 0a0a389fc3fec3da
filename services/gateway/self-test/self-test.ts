import * as m from '#messages/gateway-texts';
import type { SelfTest, SharedPort, Visitor } from '../../contracts/gateway/api.ts';
import { formatList } from '../../../messages/format.ts';
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
    return { checks: [{ ok: false, text: m.testNothingShared() }], visitors: [] };
  if (setup.listeners.length === 0) {
    return { checks: [{ ok: false, text: m.testNoAddress() }], visitors: [] };
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
  const url = `https://${urlHost}${https === undefined ? '' : `:${String(https)}`}`;
  const hosts = [base, ...shared.map(({ host }) => host)];
  const tlsFailure =
    https === undefined
      ? m.reasonPortNotOpen()
      : (await Promise.all(hosts.map((host) => findTlsFailure({ address, port: https, host, authority })))).find(
          (each) => each !== undefined,
        );
  const pageFailure = http === undefined ? m.reasonPortNotOpen() : await findTrustPageFailure({ address, port: http });
  return [
    tlsFailure === undefined
      ? {
          ok: true,
          text: m.testTlsWorks({ url }),
        }
      : {
          ok: false,
          text: m.testTlsFails({ url, reason: tlsFailure }),
        },
    pageFailure === undefined
      ? { ok: true, text: m.testTrustPageWorks({ url: `http://${urlHost}:${String(http)}` }) }
      : { ok: false, text: m.testTrustPageFails({ address: urlHost, reason: pageFailure }) },
  ];
}

/** Reports a port that must be reachable at every address. */
async function checkPort(
  { listeners }: TestSetup,
  { title, running, addresses }: TestSetup['ports'][number],
): Promise<Check[]> {
  if (!running) return [{ ok: false, text: m.testNotRunning({ title }) }];
  const closed = listeners
    .filter(({ address }) => !addresses.some((url) => new URL(url).hostname === formatForUrl(address)))
    .map(({ address }) => ({
      ok: false,
      text: m.testPortFails({ title, address, reason: m.reasonPortNotOpen() }),
    }));
  const openPorts = addresses.map(async (url) => {
    const failure = await findPortFailure(url);
    return failure === undefined
      ? { ok: true, text: m.testPortWorks({ title, url }) }
      : { ok: false, text: m.testPortFails({ title, address: url, reason: failure }) };
  });
  return [...closed, ...(await Promise.all(openPorts))];
}

function checkNames({ announces, announced, base, shared }: TestSetup): Check[] {
  if (!announces) return [{ ok: true, maybeMeant: true, text: m.testNamesNotAnnounced() }];
  const missing = [base, ...shared.map(({ host }) => host)].filter((name) => !announced.includes(name));
  if (missing.length > 0) return [{ ok: false, text: m.testNamesMissing({ names: formatList(missing) }) }];
  return [{ ok: true, text: m.testNamesAnnounced({ name: base }) }];
}

function checkServices({ shared }: TestSetup): Check[] {
  return shared
    .filter(({ running }) => !running)
    .map(({ title }) => ({ ok: false, text: m.testNotRunning({ title }) }));
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
              portTitle === undefined
                ? m.testDeviceRejected({ address: refused.address })
                : m.testDeviceRejectedAtPort({ address: refused.address, title: portTitle }),
          },
        ];
  if (connectedClient !== undefined)
    return [{ ok: true, text: m.testDeviceConnected({ address: connectedClient.address }) }, ...refusedChecks];
  return refusedChecks.length > 0 ? refusedChecks : [checkNoClients(setup)];
}

function checkNoClients({ listeners, ports }: TestSetup): Check {
  const tcpPorts = ports.flatMap(({ addresses }) => addresses.map((url) => Number(new URL(url).port)));
  const allPorts = new Set([...listeners.flatMap(({ https, http }) => [https, http]), ...tcpPorts]);
  const open = [...allPorts].filter((port) => port !== undefined);
  return {
    ok: true,
    maybeMeant: true,
    text: m.testNoDevice({ ports: formatList(open.map(String)) }),
  };
}
