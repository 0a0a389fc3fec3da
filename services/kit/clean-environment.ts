const systemVariables = /^(PATH|HOME|USER|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE)$/i;
const networkVariables =
  /^(https?_proxy|all_proxy|no_proxy|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|PIP_.*)$/i;

/**
 * Returns the environment for child processes: variables required to run and to reach the network, without secrets of
 * the host.
 */
export function buildCleanEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && (systemVariables.test(name) || networkVariables.test(name))) environment[name] = value;
  }
  return { ...environment, ...extra };
}
