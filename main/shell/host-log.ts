import type { Log } from '../../services/contracts/service.ts';
import type { HostAnswers } from '../desktop/host-line.ts';
import type { HostProcess } from '../desktop/host-process.ts';

type Level = Parameters<HostAnswers['note']>[0]['level'];

/** Log of the host for the shell; falls back to standard error while the host is unavailable. */
export function hostLog(host: () => Pick<HostProcess, 'ask'> | undefined): Log {
  const write =
    (level: Level) =>
    (message: string, { error }: Record<string, unknown> = {}): void => {
      const reason = error instanceof Error ? error.message : typeof error === 'string' ? error : '';
      const own = (): void => console.error(`${level} ${message}${reason === '' ? '' : `: ${reason}`}`);
      const isDelivered = host()?.ask('note', { level, message, error: reason });
      if (isDelivered === undefined) own();
      else isDelivered.catch(own);
    };
  return { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };
}

/** Returns a handler that logs an error with a message. */
export function createErrorHandler(log: Pick<Log, 'warn'>, message: string): (error: unknown) => void {
  return (error) => log.warn(message, { error });
}
