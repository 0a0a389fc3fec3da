import { heartbeatStatus, type HeartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** State of a container, as reported by its engine. */
export interface ContainerState {
  readonly running: boolean;
  readonly paused: boolean;
  readonly restarting: boolean;
  readonly status: string;
  /** Empty without a health check; Podman reports an empty text. */
  readonly health: string;
  readonly restartCount: number;
  readonly startedAt: string;
}

/** State that is compared with the next check. */
export type ContainerSnapshot = Pick<ContainerState, 'restartCount' | 'startedAt'>;

/** @throws Error when the response is not that of a container engine */
export function parseContainer(answer: unknown): ContainerState {
  const { State: state, RestartCount: restarts } = toRecord(answer);
  if (typeof state !== 'object' || state === null) throw new Error('The response is not from a container engine');
  const { Running, Paused, Restarting, Status, Health, StartedAt } = toRecord(state);
  const health = toRecord(Health)['Status'];
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

/**
 * Determines the status of a container. A container that was restarted since the last check is pending, because it may
 * be in a restart loop.
 */
export function judgeContainer(
  state: ContainerState,
  previous: ContainerSnapshot | undefined,
): { readonly status: HeartbeatStatus; readonly msg: string } {
  if (state.restarting) return { status: heartbeatStatus.pending, msg: 'Container is restarting' };
  if (state.paused) return { status: heartbeatStatus.down, msg: 'Container is in a paused state' };
  if (!state.running)
    return { status: heartbeatStatus.down, msg: `Container State is ${state.status || 'not running'}` };
  if (previous !== undefined && state.restartCount > previous.restartCount) {
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
