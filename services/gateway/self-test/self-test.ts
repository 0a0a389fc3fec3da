import type { SelfTest, SharedPort, Visitor } from '../../contracts/gateway/api.ts';
import { inUrl } from '../domain/names.ts';
import { troubleByTls, troubleOfPage, troubleOfPort } from './reach.ts';

/** Targets of the test in the current network. */
export interface Setup {
  readonly base: string;
  readonly authority: string | undefined;
  /** Open ports by address. */
  readonly ways: readonly {
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
export async function selfTest(setup: Setup): Promise<SelfTest> {
  const { shared, ports, visitors } = setup;
  if (shared.length === 0 && ports.length === 0)
    return { checks: [{ ok: false, text: 'Nothing is shared, so nothing listens.' }], visitors: [] };
  if (setup.ways.length === 0) {
    return { checks: [{ ok: false, text: 'This machine has no address on a network that is let in.' }], visitors: [] };
  }
  const ways = shared.length === 0 ? [] : setup.ways.map((way) => ofAddress(setup, way));
  const checks = (await Promise.all([...ways, ...ports.map((port) => ofPort(setup, port))])).flat();
  const names = shared.length === 0 ? [] : ofNames(setup);
  return { checks: [...checks, ...names, ...ofServices(setup), ...ofVisitors(setup)], visitors: [...visitors] };
}

type Check = SelfTest['checks'][number];

async function ofAddress(
  { base, authority, shared }: Setup,
  { address, https, http }: Setup['ways'][number],
): Promise<Check[]> {
  const place = inUrl(address);
  const hosts = [base, ...shared.map(({ host }) => host)];
  const byTls =
    https === undefined
      ? 'the port could not be opened'
      : (await Promise.all(hosts.map((host) => troubleByTls({ address, port: https, host, authority })))).find(
          (each) => each !== undefined,
        );
  const byPage = http === undefined ? 'the port could not be opened' : await troubleOfPage({ address, port: http });
  return [
    byTls === undefined
      ? {
          ok: true,
          text: `https://${place}:${String(https)} answers by TLS, and its certificate is right for every name.`,
        }
      : {
          ok: false,
          text: `https://${place}${https === undefined ? '' : `:${String(https)}`} cannot be used: ${byTls}.`,
        },
    byPage === undefined
      ? { ok: true, text: `The page to trust this machine answers on http://${place}:${String(http)}.` }
      : { ok: false, text: `The page to trust this machine cannot be used on ${place}: ${byPage}.` },
  ];
}

/** Reports a port that must be reachable at every address. */
async function ofPort({ ways }: Setup, { title, running, addresses }: Setup['ports'][number]): Promise<Check[]> {
  if (!running) return [{ ok: false, text: `${title} is shared but does not run.` }];
  const closed = ways
    .filter(({ address }) => !addresses.some((url) => new URL(url).hostname === inUrl(address)))
    .map(({ address }) => ({
      ok: false,
      text: `${title} cannot be used at ${address}: the port could not be opened.`,
    }));
  const tried = addresses.map(async (url) => {
    const trouble = await troubleOfPort(url);
    return trouble === undefined
      ? { ok: true, text: `${title} answers at ${url}.` }
      : { ok: false, text: `${title} cannot be used at ${url}: ${trouble}.` };
  });
  return [...closed, ...(await Promise.all(tried))];
}

function ofNames({ announces, announced, base, shared }: Setup): Check[] {
  if (!announces)
    return [{ ok: true, maybeMeant: true, text: 'Names are not announced: devices need addresses or a name server.' }];
  const missing = [base, ...shared.map(({ host }) => host)].filter((name) => !announced.includes(name));
  if (missing.length > 0) return [{ ok: false, text: `Not announced on the network: ${missing.join(', ')}.` }];
  return [{ ok: true, text: `Devices find ${base} and the names below it by themselves.` }];
}

function ofServices({ shared }: Setup): Check[] {
  return shared
    .filter(({ running }) => !running)
    .map(({ title }) => ({ ok: false, text: `${title} is shared but does not run.` }));
}

/** Only another computer can verify that a firewall passes packets. */
function ofVisitors(setup: Setup): Check[] {
  const { visitors, ports } = setup;
  const came = visitors.find(({ letIn }) => letIn);
  const refused = visitors.find(({ letIn }) => !letIn);
  const at = ports.find(({ id }) => id === refused?.port)?.title;
  const away =
    refused === undefined
      ? []
      : [
          {
            ...{ ok: false, maybeMeant: true },
            text: `${refused.address} knocked${at === undefined ? '' : ` at ${at}`} and was turned away: its network is not among those that are let in there.`,
          },
        ];
  if (came !== undefined)
    return [{ ok: true, text: `Another device, ${came.address}, has got through since the start.` }, ...away];
  return away.length > 0 ? away : [ofNobody(setup)];
}

function ofNobody({ ways, ports }: Setup): Check {
  const own = ports.flatMap(({ addresses }) => addresses.map((url) => Number(new URL(url).port)));
  const all = new Set([...ways.flatMap(({ https, http }) => [https, http]), ...own]);
  const open = [...all].filter((port) => port !== undefined);
  return {
    ok: true,
    maybeMeant: true,
    text: `No other device has connected since the start. If a phone cannot, let TCP ${open.join(' and ')} through the firewall of this machine, and look whether the phone is in a guest network.`,
  };
}
