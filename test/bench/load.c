// The callers of the push server and of the aggregator. They talk to 127.0.0.1 only, are bounded by their arguments and
// print one line of JSON.
//
//   load publish PORT CONNECTIONS COUNT REQUEST     one request after another on each connection, which is opened anew
//                                                   where the server ended it after an answer
//   load poll PORT TIMES REQUEST                    a connection each, read to its end
//   load listen PORT CONNECTIONS MESSAGES PAUSE_MS STREAM PUBLISH
//       opens streams, says `open`, and publishes at each line of its input MESSAGES messages, one after the other; of
//       PUBLISH the text MARKER######, with the message's number for the signs, is what streams are looked through for
#include "load.h"

static const char signs[] = "MARKER######";

struct caller {
  int socket_fd;
  size_t filled;
  int waits;
  double asked;
  char text[room + 1];
};

static void publish(int port, int connections, int count, const char *request) {
  struct caller *callers = room_for(connections, sizeof *callers);
  double *times = room_for(count, sizeof *times);
  struct epoll_event events[events_at_once];
  size_t length = strlen(request);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int left = count, answered = 0, refused = 0, redialled = 0;
  for (int index = 0; index < connections; index += 1) {
    callers[index].socket_fd = dial(port);
    watch(epoll, callers[index].socket_fd, index);
  }
  double began = now();
  for (int index = 0; index < connections && left > 0; index += 1, left -= 1) {
    callers[index].asked = now();
    callers[index].waits = 1;
    say(callers[index].socket_fd, request, length);
  }
  while (answered < count) {
    int ready = wait_for(epoll, events);
    for (int at = 0; at < ready; at += 1) {
      struct caller *caller = &callers[events[at].data.u32];
      ssize_t got = read(caller->socket_fd, caller->text + caller->filled, room - caller->filled);
      if (got <= 0) {
        if (caller->filled > 0 || (redialled += 1) > count) fail("the server hung up");
        close(caller->socket_fd);
        caller->socket_fd = dial(port);
        watch(epoll, caller->socket_fd, (int)events[at].data.u32);
        if (caller->waits) say(caller->socket_fd, request, length);
        continue;
      }
      caller->filled += got;
      if (!is_whole(caller->text, caller->filled)) continue;
      double time = now();
      refused += strncmp(caller->text, "HTTP/1.1 200", 12) != 0;
      times[answered++] = time - caller->asked;
      caller->filled = 0;
      caller->waits = left > 0;
      if (left <= 0) continue;
      left -= 1;
      caller->asked = time;
      say(caller->socket_fd, request, length);
    }
  }
  double took = now() - began;
  qsort(times, count, sizeof *times, ascending);
  printf("{\"perSecond\":%.3f,\"refused\":%d,\"p50\":%.3f,\"p99\":%.3f,\"loadCpuMs\":%.4f}\n", count / took * 1e3,
         refused, share_of(times, count, 0.5), share_of(times, count, 0.99), cpu_ms() / count);
}

static void poll_history(int port, int times, const char *request) {
  static char text[64 * 1024 * 1024];
  double *took = room_for(times, sizeof *took);
  int messages = 0;
  for (int round = 0; round < times; round += 1) {
    size_t filled = 0;
    double began = now();
    int socket_fd = dial(port);
    say(socket_fd, request, strlen(request));
    for (ssize_t got; (got = read(socket_fd, text + filled, sizeof text - 1 - filled)) != 0; filled += got)
      if (got < 0) fail("read");
    took[round] = now() - began;
    close(socket_fd);
    text[filled] = '\0';
    messages = 0;
    for (char *at = text; (at = strstr(at, "\"event\":\"message\"")) != NULL; at += 1) messages += 1;
  }
  qsort(took, times, sizeof *took, ascending);
  printf("{\"messages\":%d,\"p50\":%.3f}\n", messages, share_of(took, times, 0.5));
}

/** Opens streams, some at a time, until each has said that it is open. */
static void open_streams(int epoll, int port, int connections, const char *request, int *sockets) {
  struct epoll_event events[events_at_once];
  char text[room + 1];
  char *opened = room_for(connections, 1);
  int asked = 0, open = 0, refused = 0;
  while (open < connections) {
    for (; asked < connections && asked - open < opening_at_once; asked += 1) {
      sockets[asked] = dial(port);
      say(sockets[asked], request, strlen(request));
      watch(epoll, sockets[asked], asked);
    }
    int ready = wait_for(epoll, events);
    for (int at = 0; at < ready; at += 1) {
      int index = (int)events[at].data.u32;
      ssize_t got = read(sockets[index], text, room);
      if (got <= 0) fail("a stream was refused");
      text[got] = '\0';
      if (strncmp(text, "HTTP/1.1 4", 10) == 0) {
        // A server that refuses some of them under load is asked again.
        if ((refused += 1) > connections) fail(text);
        close(sockets[index]);
        sockets[index] = dial(port);
        say(sockets[index], request, strlen(request));
        watch(epoll, sockets[index], index);
        continue;
      }
      if (memmem(text, got, "\"open\"", 6) == NULL || opened[index]) continue;
      opened[index] = 1;
      open += 1;
    }
  }
  free(opened);
}

static void listen_and_publish(int port, int connections, int messages, int pause_ms, const char *stream, char *request) {
  int *sockets = room_for(connections + 1, sizeof *sockets);
  double *times = room_for((size_t)connections * messages + 1, sizeof *times);
  double *lasts = room_for(messages + 1, sizeof *lasts);
  struct epoll_event events[events_at_once];
  static char text[room + 1];
  char line[64], marker[24];
  int epoll = epoll_create1(EPOLL_CLOEXEC), number = 0;
  open_streams(epoll, port, connections, stream, sockets);
  char *place = strstr(request, signs);
  if (place == NULL) fail("the request has no marker");
  int publisher = dial(port);
  watch(epoll, publisher, connections);
  puts("open");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    int delivered = 0;
    double cpu = cpu_ms();
    for (int message = 0; message < messages; message += 1) {
      snprintf(marker, sizeof marker, "MARKER%06d", number++ % 1000000);
      memcpy(place, marker, sizeof signs - 1);
      double began = now();
      say(publisher, request, strlen(request));
      for (int left = connections; left > 0;) {
        int ready = wait_for(epoll, events);
        for (int at = 0; at < ready; at += 1) {
          int index = (int)events[at].data.u32;
          ssize_t got = read(index == connections ? publisher : sockets[index], text, room);
          if (got <= 0) fail("a stream ended");
          if (index == connections || memmem(text, got, marker, sizeof signs - 1) == NULL) continue;
          times[delivered++] = now() - began;
          left -= 1;
        }
      }
      lasts[message] = times[delivered - 1];
      usleep(pause_ms * 1000);
    }
    cpu = cpu_ms() - cpu;
    qsort(times, delivered, sizeof *times, ascending);
    qsort(lasts, messages, sizeof *lasts, ascending);
    printf("{\"p50\":%.3f,\"p99\":%.3f,\"last\":%.3f,\"loadCpuMs\":%.4f}\n", share_of(times, delivered, 0.5),
           share_of(times, delivered, 0.99), share_of(lasts, messages, 0.5), cpu / delivered);
    fflush(stdout);
  }
}

int main(int count, char **words) {
  if (count == 6 && strcmp(words[1], "publish") == 0) {
    publish(atoi(words[2]), atoi(words[3]), atoi(words[4]), words[5]);
  } else if (count == 5 && strcmp(words[1], "poll") == 0) {
    poll_history(atoi(words[2]), atoi(words[3]), words[4]);
  } else if (count == 8 && strcmp(words[1], "listen") == 0) {
    listen_and_publish(atoi(words[2]), atoi(words[3]), atoi(words[4]), atoi(words[5]), words[6], words[7]);
  } else {
    fail("wrong arguments");
  }
  return 0;
}
