/** Connection between two processes. Messages arrive in order, as copies. */
export interface MessageLine {
  send(message: unknown): void;
  receive(listener: (message: unknown) => void): void;
}

/** Handlers of one side by name, each with at most one argument. */
export type Calls = Readonly<Record<string, (argument: any) => unknown>>;

/** Calls the other side. Rejects with its reason when it refuses, and once the connection is closed. */
export type CallOptions<Theirs extends Calls> = <Name extends keyof Theirs & string>(
  name: Name,
  ...argument: Parameters<Theirs[Name]>
) => Promise<Awaited<ReturnType<Theirs[Name]>>>;

type Message =
  | { readonly call: number; readonly name: string; readonly argument: unknown }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly refusal: string };

/** Thrown when the other side has closed the connection or never existed. */
export class ConnectionClosed extends Error {
  override readonly name = 'LineClosed';
}

/**
 * Lets both sides of a connection call each other. Both are built from the same sources, so names and arguments
 * match.
 */
export function connectCalls<Theirs extends Calls>(
  line: MessageLine,
  localCalls: Calls,
): { readonly ask: CallOptions<Theirs>; readonly close: () => void } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  let closed = false;

  const answer = async (call: number, name: string, argument: unknown): Promise<Message> => {
    try {
      return { answer: call, value: await localCalls[name]?.(argument) };
    } catch (error) {
      return { answer: call, refusal: error instanceof Error ? error.message : String(error) };
    }
  };
  line.receive((received) => {
    const message = received as Message;
    if ('call' in message) {
      void answer(message.call, message.name, message.argument).then((reply) => {
        if (!closed) line.send(reply);
      });
      return;
    }
    const call = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('refusal' in message) call?.reject(new Error(message.refusal));
    else call?.resolve(message.value);
  });

  return {
    ask(name, argument?: unknown) {
      if (closed) return Promise.reject(new ConnectionClosed(`nobody is there to answer ${name}`));
      const call = Promise.withResolvers<unknown>();
      calls += 1;
      waiting.set(calls, call);
      line.send({ call: calls, name, argument } satisfies Message);
      return call.promise as Promise<never>;
    },
    close() {
      closed = true;
      for (const call of waiting.values()) call.reject(new ConnectionClosed('the other process is gone'));
      waiting.clear();
    },
  };
}
