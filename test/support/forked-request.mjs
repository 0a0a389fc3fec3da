// Requests the address in its argument when its parent sends a message, and answers with the status.
import process from 'node:process';

process.once('message', async () => {
  const response = await fetch(process.argv[2]);
  await response.arrayBuffer();
  process.send(response.status);
});
