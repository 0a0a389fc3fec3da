import type { SelfTest, Visitor } from '../../contracts/gateway/api.ts';
import { inUrl } from '../domain/names.ts';
import { troubleByTls, troubleOfPage } from './reach.ts';

/** What is tried, as the network stands at the moment. */
export interface Setup {
  readonly base: string;
  readonly authority: string | undefined;
  /** The ports that are open, by address. */
  readonly ways: readonly {
    readonly address: string;
    readonly https?: number | undefined;
    readonly http?: number | undefined;
  }[];
  readonly shared: readonly { readonly title: string; readonly host: string; readonly running: boolean }[];
  readonly announces: boolean;
  readonly announced: readonly string[];
  readonly visitors: readonly Visitor[];
}

/** Asks as a phone would, from the address of each network, and says in words what it would find. */
export async function selfTest(setup: Setup): Promise<SelfTest> {
  const { shared, visitors } = setup;
  if (shared.length === 0)
    return { checks: [{ ok: false, text: 'Nothing is shared, so nothing listens.' }], visitors: [] };
  if (setup.ways.length === 0) {
    return { checks: [{ ok: false, text: 'This machine has no address on a network that is let in.' }], visitors: [] };
  }
  const checks = (await Promise.all(setup.ways.map((way) => ofAddress(setup, way)))).flat();
  return { checks: [...checks, ...ofNames(setup), ...ofServices(setup), ofVisitors(setup)], visitors: [...visitors] };
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

function ofNames({ announces, announced, base, shared }: Setup): Check[] {
  if (!announces) return [{ ok: true, text: 'Names are not announced: devices need addresses or a name server.' }];
  const missing = [base, ...shared.map(({ host }) => host)].filter((name) => !announced.includes(name));
  if (missing.length > 0) return [{ ok: false, text: `Not announced on the network: ${missing.join(', ')}.` }];
  return [{ ok: true, text: `Devices find ${base} and the names below it by themselves.` }];
}

function ofServices({ shared }: Setup): Check[] {
  return shared
    .filter(({ running }) => !running)
    .map(({ title }) => ({ ok: false, text: `${title} is shared but does not run.` }));
}

/** That packets get through a firewall only another machine can show. */
function ofVisitors({ visitors, ways }: Setup): Check {
  const refused = visitors.find(({ letIn }) => !letIn);
  const came = visitors.find(({ letIn }) => letIn);
  if (came !== undefined)
    return { ok: true, text: `Another device, ${came.address}, has got through since the start.` };
  if (refused !== undefined) {
    return {
      ok: false,
      text: `${refused.address} knocked and was turned away: its network is not among those that are let in.`,
    };
  }
  const ports = [...new Set(ways.flatMap(({ https, http }) => [https, http]))].filter((port) => port !== undefined);
  const text = `No other device has connected since the start. If a phone cannot, let TCP ${ports.join(' and ')} through the firewall of this machine, and look whether the phone is in a guest network.`;
  return { ok: true, text };
}
