import * as m from '#messages/host-problems';
import { z } from 'zod';
import type { Handover, Handovers } from '../../../services/contracts/bus.ts';
import { Problem } from '../../../services/contracts/problem.ts';

type Receiver = (payload: unknown, key: string) => Promise<void>;

/**
 * Creates the handovers of this process. The payload is validated first; an invalid one fails the job permanently.
 * Until `started` resolves, a missing receiver is awaited, since services start concurrently and jobs of the last run
 * must not be delayed when the receiver starts a moment later. `isOff` returns whether a service is disabled; the
 * prefix of a handover's name is the id of its receiver.
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
        const detail = (): string => m.handoverInvalid({ name: handover.name });
        throw new Problem('handover.invalid', 500, detail, { cause: parsed.error, retryable: false });
      }
      let receiver = receivers.get(handover.name);
      if (receiver === undefined) {
        await started;
        receiver = receivers.get(handover.name);
      }
      const [service = ''] = handover.name.split('.', 1);
      if (receiver === undefined && isOff(service)) {
        const detail = (): string => m.receiverDisabled({ service });
        throw new Problem('handover.switched_off', 503, detail, { retryable: true });
      }
      if (receiver === undefined) {
        const detail = (): string => m.receiverNotRunning({ service });
        throw new Problem('handover.no_receiver', 503, detail, { retryable: true });
      }
      await receiver(parsed.data, key);
    },
    receive<T>(handover: Handover<T>, receiver: (payload: T, key: string) => Promise<void>): Disposable {
      if (receivers.has(handover.name)) throw new Error(`${handover.name} has a receiver already`);
      const result = receiver as Receiver;
      receivers.set(handover.name, result);
      return {
        [Symbol.dispose]() {
          if (receivers.get(handover.name) === result) receivers.delete(handover.name);
        },
      };
    },
  };
}
