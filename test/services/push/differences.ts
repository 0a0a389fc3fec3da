/** A recorded exchange that is answered otherwise here, and why. */
export interface Difference {
  /** One sentence; the service's README says it too. */
  readonly why: string;
  /** What is answered in place of the recorded status. */
  readonly status: number;
}

/** All recorded exchanges that differ, by name. */
export const differences: Readonly<Record<string, Difference>> = {
  metrics: {
    why: 'The metrics page holds Push’s own metrics in place of the peer’s Go runtime.',
    status: 200,
  },
};

/** Exchanges with a server of other settings, which the suite of that setting plays. */
export const otherServers: Readonly<Record<string, string>> = {
  limit_messages_daily: 'a server with three messages a day',
  limit_requests: 'a server with a burst of five requests',
};
