// Health check of a container: `node health.mjs live` or `node health.mjs ready` exits with 0 if the host responds with
// 200. The listeners are on the loopback interface, so the check runs inside of the container.
const path = process.argv[2] === 'live' ? 'live' : 'ready';
const port = process.env.HOMEPORT_PORT_CONTROL ?? '7700';
const signal = AbortSignal.timeout(4000);
try {
  const response = await fetch(`http://127.0.0.1:${port}/health/${path}`, { signal });
  console.log(await response.text());
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
