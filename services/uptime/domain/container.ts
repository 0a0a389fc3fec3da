import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';

/** What a container engine says of one, as far as it matters here. */
export interface ContainerState {
  readonly running: boolean;
  readonly paused: boolean;
  readonly restarting: boolean;
  readonly status: string;
  /** Empty: it has no health check; Podman says so by an empty text. */
  readonly health: string;
  readonly restartCount: number;
  readonly startedAt: string;
}

/** What is remembered of it from one check to the next. */
export type ContainerMark = Pick<ContainerState, 'restartCount' | 'startedAt'>;

/** @throws Error when the answer is none of a container engine. */
export function readContainer(answer: unknown): ContainerState {
  const { State: state, RestartCount: restarts } = record(answer);
  if (typeof state !== 'object' || state === null) throw new Error('The answer is not that of a container engine');
  const { Running, Paused, Restarting, Status, Health, StartedAt } = record(state);
  const health = record(Health)['Status'];
  return {
    running: Running === true,
    paused: Paused === true,
    restarting: Restarting === true,
    status: typeof Status === 'string' ? Status : '',
    health: typeof health === 'string' && health !== 'none' ? health : '',
    restartCount: typeof restarts === 'number' ? restarts : 0,
    startedAt: typeof StartedAt === 'string' ? StartedAt : '',
  };
}

/** One that the engine had to start again since the last check is in a loop of crashes, though it runs at this moment. */
export function judgeContainer(
  state: ContainerState,
  before: ContainerMark | undefined,
): { readonly status: HeartbeatStatus; readonly msg: string } {
  if (state.restarting) return { status: heartbeatStatus.pending, msg: 'Container is restarting' };
  if (state.paused) return { status: heartbeatStatus.down, msg: 'Container is in a paused state' };
  if (!state.running)
    return { status: heartbeatStatus.down, msg: `Container State is ${state.status || 'not running'}` };
  if (before !== undefined && state.restartCount > before.restartCount) {
    return { status: heartbeatStatus.pending, msg: `Container was restarted ${String(state.restartCount)} times` };
  }
  switch (state.health) {
    case '':
      return { status: heartbeatStatus.up, msg: 'Container has not reported health and is currently running.' };
    case 'healthy':
      return { status: heartbeatStatus.up, msg: 'healthy' };
    case 'unhealthy':
      return { status: heartbeatStatus.down, msg: 'Container is unhealthy' };
    default:
      return { status: heartbeatStatus.pending, msg: state.health };
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
