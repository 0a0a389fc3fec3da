/** How a program reaches a key. `signIn`: the gateway asks who posts before the key does. */
interface Place {
  /** Of the service, as the program reaches it. */
  readonly base: string;
  readonly key: string;
  readonly signIn: boolean;
}

/** Where programs post to. */
export function addressOf({ base, key }: Place): string {
  return `${base}/notify/${key}`;
}

/** What programs are given to send to a key, each by its name, as it is copied. */
export function linesOf(place: Place) {
  const { base, key, signIn } = place;
  const address = addressOf(place);
  const scheme = base.startsWith('https:') ? 'apprises' : 'apprise';
  return {
    curl: `curl${signIn ? ' -u "$USER:$TOKEN"' : ''} -d title=Hello -d body="First light" ${address}`,
    Apprise: `apprise -t Hello -b "First light" ${base.replace(/^https?/, scheme)}/${key}`,
    Alertmanager: `webhook_configs: [{ url: '${address}' }]`,
  } as const;
}
