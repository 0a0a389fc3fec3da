import { Problem } from '../../contracts/problem.ts';
import type { Route } from '../../kit/http/listener.ts';
import { toQueryObject } from '../../kit/http/query.ts';
import { jsonReply } from '../../kit/http/respond.ts';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import type { Monitoring } from '../monitoring/monitoring.ts';

const maxPingMs = 100_000_000_000;
const maxMessageLength = 5000;

/** Handles `/api/push/:token` with any method. The response is sent once the heartbeat is stored. */
export function createPushHandler(monitoring: Monitoring): Route['handle'] {
  return async ({ params, query }) => {
    const monitor = monitoring.monitors.findByToken(params['token'] ?? '');
    if (monitor === undefined) {
      return jsonReply(404, { ok: false, msg: 'Monitor not found or not active.' });
    }
    const { status = 'up', msg = 'OK', ping: pingText } = toQueryObject(query);
    const ping = Number.parseFloat(typeof pingText === 'string' ? pingText : '');
    if (ping < 0 || ping > maxPingMs) {
      const range = `Invalid ping value. Must be between 0 and ${String(maxPingMs)} ms.`;
      return jsonReply(404, { ok: false, msg: range });
    }
    try {
      await monitoring.report(monitor, {
        status: status === 'up' ? heartbeatStatus.up : heartbeatStatus.down,
        msg: (typeof msg === 'string' ? msg : JSON.stringify(msg)).slice(0, maxMessageLength),
        ping: Number.isNaN(ping) || ping === 0 ? null : Math.round(ping * 1000) / 1000,
      });
    } catch (error) {
      throw new Problem('uptime.not_stored', 503, 'The push could not be stored. Send it again.', { cause: error });
    }
    return jsonReply(200, { ok: true });
  };
}
