#!/usr/bin/env python3
"""An operator for Moorings in one file, with nothing but Python's own library.

One thread follows the watch. The main thread reconciles one Mooring after the other, when it is due: at once if the
watch tells of a change, later if something failed, and every CHECK_SECONDS to see what the desk has.
"""
import base64
import http.client
import json
import os
import signal
import ssl
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

FINALIZER = "harbour.example.com/booking"
CHECK = float(os.environ["CHECK_SECONDS"])
TIMEOUT = 3  # seconds for a call
BROKEN = (OSError, http.client.HTTPException, ValueError)  # there is no answer, or it can't be read
BUSY = ("DeskBusy", "the desk takes no call yet")
STALE = ("Changed", "somebody has changed it meanwhile; it's looked up again")


class Refused(Exception):
    """An answer that isn't what was asked for."""

    def __init__(self, code, said, after):
        super().__init__(f"{code}: {said}")
        self.code, self.said, self.after = code, said, after


class Later(Exception):
    """It has to be tried again in so many seconds. A user is shown why."""

    def __init__(self, seconds, *why):
        super().__init__(f"again in {seconds}s")
        self.seconds = seconds
        self.why = why or ("Failed", "something other than the desk has failed; the operator's log says what")


def send(method, url, token, body=None, kind="application/json", context=None, timeout=TIMEOUT):
    """Sends a request, and returns the response, which is open."""
    headers = {"Content-Type": kind}
    if token:
        headers["Authorization"] = "Bearer " + token
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        return urllib.request.urlopen(request, timeout=timeout, context=context)
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
        try:
            said = json.loads(text).get("error", "")
        except ValueError:
            said = ""
        raise Refused(error.code, said, float(error.headers.get("Retry-After", 1))) from None


class Server:
    """The API server that KUBECONFIG names. The file is JSON, which is YAML, too."""

    def __init__(self):
        with open(os.environ["KUBECONFIG"], encoding="utf-8") as file:
            config = json.load(file)

        def named(kind, name):
            return next(entry[kind] for entry in config[kind + "s"] if entry["name"] == name)

        context = named("context", config["current-context"])
        cluster, user = named("cluster", context["cluster"]), named("user", context["user"])
        self.token = user.get("token")
        self.context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile() as pair:  # ssl reads files only
                for part in ("client-certificate-data", "client-key-data"):
                    pair.write(base64.b64decode(user[part]))
                pair.flush()
                self.context.load_cert_chain(pair.name)
        self.url = f"{cluster['server']}/apis/harbour.example.com/v1alpha1/namespaces/{os.environ['WATCH_NAMESPACE']}/moorings"

    def call(self, method, path, body=None):
        """Returns the object that the server answers with. Whatever goes wrong, it's tried again later."""
        try:
            with send(method, self.url + path, self.token, body, "application/merge-patch+json", self.context) as response:
                return json.load(response)
        except (Refused, *BROKEN) as error:
            print(f"{method} moorings{path}: {error}", flush=True)
            raise Later(1) from None

    def watch(self, version):
        """Yields the events since a version, until the watch ends."""
        query = urllib.parse.urlencode({"watch": "1", "resourceVersion": version, "timeoutSeconds": 240})
        with send("GET", f"{self.url}?{query}", self.token, context=self.context, timeout=300) as response:
            for line in response:
                yield json.loads(line)


class Desk:
    """The harbour desk. Its limit is one for all Moorings."""

    def __init__(self):
        self.opens = 0.0  # no call before

    def call(self, method, path, body=None):
        """Returns what the desk answers. It raises Later if the desk takes no call yet."""
        if self.opens > time.monotonic():
            raise Later(self.opens - time.monotonic(), *BUSY)
        try:
            with open(os.environ["DESK_TOKEN_FILE"], encoding="utf-8") as file:  # it may have changed
                token = file.read().strip()
        except OSError as error:
            print(error, flush=True)
            raise Later(1) from None
        try:
            with send(method, os.environ["DESK_URL"] + path, token, body) as response:
                return json.loads(response.read() or "null")
        except Refused as refused:
            if refused.code != 429:
                raise
            self.opens = time.monotonic() + refused.after
            raise Later(refused.after, *BUSY) from None

    def find(self, reference):
        return self.call("GET", "/bookings?reference=" + urllib.parse.quote(reference))

    def cancel(self, number):
        try:
            self.call("DELETE", "/bookings/" + number)
        except Refused as refused:
            if refused.code != 404:  # somebody was faster
                raise


class Operator:
    def __init__(self):
        self.server, self.desk = Server(), Desk()
        self.changed = threading.Condition()  # guards these two
        self.moorings, self.due = {}, {}  # by name
        self.failures = {}  # in a row, by name

    def follow(self):
        """Keeps the Moorings as they are at the server. When a watch ends, it lists them again."""
        while True:
            try:
                listed = self.server.call("GET", "")
                with self.changed:
                    self.moorings = {}
                    for mooring in listed["items"]:
                        self.remember(mooring)
                for event in self.server.watch(listed["metadata"]["resourceVersion"]):
                    if event["type"] == "ERROR":
                        break
                    with self.changed:
                        self.remember(event["object"], gone=event["type"] == "DELETED")
            except (Later, Refused, *BROKEN):
                pass
            time.sleep(0.5)

    def remember(self, mooring, gone=False):
        name = mooring["metadata"]["name"]
        if gone:
            self.moorings.pop(name, None)
            return
        self.moorings[name] = mooring
        self.due[name] = time.monotonic()
        self.changed.notify()

    def next(self):
        """Waits until a Mooring is due."""
        with self.changed:
            while True:
                name = min(self.due, key=self.due.get, default=None)
                wait = None if name is None else self.due[name] - time.monotonic()
                if wait is not None and wait <= 0:
                    del self.due[name]
                    return name, self.moorings.get(name)
                self.changed.wait(wait)

    def run(self):
        threading.Thread(target=self.follow, daemon=True).start()
        while True:
            name, mooring = self.next()
            if mooring is None:
                continue  # it's gone, and everything with it
            again = self.reconcile(name, mooring)
            with self.changed:
                if again is not None:
                    self.due[name] = min(self.due.get(name, float("inf")), time.monotonic() + again)

    def reconcile(self, name, mooring):
        """Makes the desk have what the Mooring says, reports it, and returns in how many seconds to look again."""
        again, trouble, booking = CHECK, None, None
        try:
            if "deletionTimestamp" in mooring["metadata"]:
                self.cancel(mooring)
                return None
            mooring = self.keep(mooring)
            booking = self.book(mooring)
            self.failures.pop(name, None)
        except Later as later:
            again, trouble = later.seconds, later.why
        except Refused as refused:
            trouble = ("Refused", refused.said or f"the desk answers {refused.code}")
            if refused.code == 401:
                trouble = ("TokenRefused", "the desk refuses the token")
            elif refused.code >= 500:
                again, trouble = self.backoff(name), ("DeskUnavailable", "the desk doesn't answer as it should")
        except BROKEN:
            again, trouble = self.backoff(name), ("DeskUnavailable", "the desk doesn't answer")
        try:
            self.report(mooring, booking, trouble)
        except Later as later:
            again = min(again, later.seconds)
        return again

    def backoff(self, name):
        self.failures[name] = min(self.failures.get(name, 0) + 1, 4)
        return 0.2 * 2 ** self.failures[name] / 2

    def keep(self, mooring):
        """Adds the finalizer: once there may be a booking, the Mooring can't go without this program."""
        finalizers = mooring["metadata"].get("finalizers", [])
        if FINALIZER in finalizers:
            return mooring
        return self.patch(mooring, {"metadata": {"finalizers": finalizers + [FINALIZER]}})

    def book(self, mooring):
        """Makes the desk have one booking, which says what the spec says, and returns it."""
        spec, reference = mooring["spec"], mooring["metadata"]["uid"]
        found = self.desk.find(reference)  # since an answer may have been lost
        for surplus in found[1:]:
            self.desk.cancel(surplus["number"])
        if not found:
            self.confirm(mooring)
            return self.desk.call("POST", "/bookings", {"reference": reference, "ship": spec["ship"], "metres": spec["metres"]})
        if found[0]["metres"] == spec["metres"]:
            return found[0]
        try:
            return self.desk.call("PUT", "/bookings/" + found[0]["number"], {"metres": spec["metres"]})
        except Refused as refused:
            if refused.code == 404:  # somebody has cancelled it since
                raise Later(1, *STALE) from None
            raise

    def confirm(self, mooring):
        """Reads what the watch may not have told yet, before something costs money."""
        live = self.server.call("GET", "/" + mooring["metadata"]["name"])
        if any(live["metadata"][field] != mooring["metadata"][field] for field in ("uid", "generation")):
            raise Later(1, *STALE)

    def cancel(self, mooring):
        """Cancels what there is, and lets the Mooring go."""
        finalizers = mooring["metadata"].get("finalizers", [])
        if FINALIZER not in finalizers:
            return
        for booking in self.desk.find(mooring["metadata"]["uid"]):
            self.desk.cancel(booking["number"])
        self.patch(mooring, {"metadata": {"finalizers": [f for f in finalizers if f != FINALIZER]}})

    def patch(self, mooring, change, subresource=""):
        """Changes a Mooring, unless it has changed since it was read."""
        change.setdefault("metadata", {})["resourceVersion"] = mooring["metadata"]["resourceVersion"]
        return self.server.call("PATCH", "/" + mooring["metadata"]["name"] + subresource, change)

    def report(self, mooring, booking, trouble):
        """Writes how the Mooring is, unless the status says so already."""
        status, generation = mooring.get("status", {}), mooring["metadata"]["generation"]
        conditions = status.get("conditions", [])
        was = next((c for c in conditions if c["type"] == "Ready"), {})
        deleting = "deletionTimestamp" in mooring["metadata"]
        if FINALIZER not in mooring["metadata"].get("finalizers", []):
            return  # it's on its way
        if trouble and not trouble[0].endswith("Refused") and not deleting and (was.get("status"), was.get("observedGeneration")) == ("True", generation):
            return  # as far as we know, it's still so
        want = {"observedGeneration": generation, "number": status.get("number", ""), "berth": status.get("berth", "")}
        if booking:
            want.update(number=booking["number"], berth=booking["berth"])
        reason, message = trouble or ("Booked", f"the berth is {want['berth']}")
        if deleting:
            message += "; the booking isn't cancelled yet"
        ready = {"type": "Ready", "status": "False" if trouble else "True", "reason": reason, "message": message, "observedGeneration": generation}
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready["lastTransitionTime"] = was["lastTransitionTime"] if was.get("status") == ready["status"] else since
        want["conditions"] = [c for c in conditions if c["type"] != "Ready"] + [ready]
        if any(status.get(field, "") != value for field, value in want.items()):
            self.patch(mooring, {"status": want}, "/status")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    Operator().run()
