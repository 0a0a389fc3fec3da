import { z } from 'zod';
import type { Handover, Handovers } from '../../../services/contracts/bus.ts';
import { Problem } from '../../../services/contracts/problem.ts';

type Receiver = (payload: unknown, key: string) => Promise<void>;

/**
 * Hand-overs within this process. The payload is checked before it is passed; a wrong one is final for the job.
 * Until `started` resolves a missing receiver is waited for: services start side by side, and a job left over from the
 * last run must not be put off because its receiver comes up a moment later. `isOff` knows which services are switched off:
 * a hand-over's receiver is the service that its name begins with.
 */
export function createHandovers(
  started: Promise<void> = Promise.resolve(),
  isOff: (service: string) => boolean = () => false,
): Handovers {
  const receivers = new Map<string, Receiver>();
  return {
    async pass<T>(handover: Handover<T>, key: string, payload: T): Promise<void> {
      const parsed = z.safeParse(handover.schema, payload);
      if (!parsed.success) {
        const detail = `What was handed to ${handover.name} does not have the form it asks for.`;
        throw new Problem('handover.invalid', 500, detail, { cause: parsed.error, retryable: false });
      }
      let receiver = receivers.get(handover.name);
      if (receiver === undefined) {
        await started;
        receiver = receivers.get(handover.name);
      }
      if (receiver === undefined && isOff(handover.name.split('.', 1)[0] ?? '')) {
        const detail = `Nobody takes ${handover.name}: the service is switched off.`;
        throw new Problem('handover.switched_off', 503, detail, { retryable: true });
      }
      if (receiver === undefined) {
        const detail = `Nobody takes ${handover.name} at the moment: the service is not running.`;
        throw new Problem('handover.no_receiver', 503, detail, { retryable: true });
      }
      await receiver(parsed.data, key);
    },
    receive<T>(handover: Handover<T>, receiver: (payload: T, key: string) => Promise<void>): Disposable {
      if (receivers.has(handover.name)) throw new Error(`${handover.name} has a receiver already`);
      const taken = receiver as Receiver;
      receivers.set(handover.name, taken);
      return {
        [Symbol.dispose]() {
          if (receivers.get(handover.name) === taken) receivers.delete(handover.name);
        },
      };
    },
  };
}
