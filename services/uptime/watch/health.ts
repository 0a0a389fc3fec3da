import type { Health } from '../../contracts/health.ts';
import { beatStatus } from '../../contracts/uptime/monitor.ts';
import { fewNames } from '../../kit/few-names.ts';
import type { Monitors } from './monitors.ts';
import type { Recorder } from './recorder.ts';

/** What Home says of the service: which monitors are down, by their names as far as a line has room. */
export function healthOf(monitors: Monitors, recorder: Recorder): Health {
  if (recorder.isBehind) return { state: 'degraded', detail: 'what was checked cannot be written' };
  const active = monitors.all().filter((watched) => monitors.isActive(watched));
  if (active.length === 0) {
    return { state: 'up', detail: 'nothing to watch', begin: { label: 'Watch a first address', to: '/uptime' } };
  }
  const down = active.filter(({ standing }) => standing.status === beatStatus.down);
  const all = `${String(active.length)} watched`;
  const known = active.filter(({ standing }) => standing.status !== null).length;
  const [first, another] = down;
  if (first === undefined)
    return { state: 'up', detail: known === active.length ? `${all}, all well` : `${all}, ${String(known)} known` };
  const are = another === undefined ? 'is' : 'are';
  const to = another === undefined ? `/uptime/monitors/${String(first.id)}` : '/uptime';
  const detail = `${fewNames(down.map(({ config }) => config.name))} ${are} down, ${all}`;
  return { state: 'up', detail, remedy: { label: 'See what is down', to } };
}
