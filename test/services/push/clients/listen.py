"""Follows a topic as a small program would: reads lines, and comes back with the last id it saw."""

import base64
import http.client
import json
import sys
import time

port, topic, user, password = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
credential = base64.b64encode(f"{user}:{password}".encode()).decode()
since = "all"
while True:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", f"/{topic}/json?since={since}", headers={"Authorization": f"Basic {credential}"})
        response = connection.getresponse()
        # Something else is said while the server starts or stops.
        for line in response if response.status == 200 else []:
            event = json.loads(line)
            if event["event"] == "message":
                since = event["id"]
                print(event["message"], flush=True)
    except (OSError, http.client.HTTPException, json.JSONDecodeError):
        pass
    time.sleep(0.05)
