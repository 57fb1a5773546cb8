// A counterparty built on QuickFIX, an engine that shares nothing with ours: sends orders, expects each back once and in order, and makes trouble
// in between. Exit code 0 = all came back.
//
// usage: quickfix_peer initiator|acceptor <port> <orders>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <quickfix/Application.h>
#include <quickfix/Log.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/SocketInitiator.h>

class Peer : public FIX::NullApplication {
public:
    void onLogon(const FIX::SessionID &) { change([this] { logons++; }); }
    void onLogout(const FIX::SessionID &) { change([this] { logouts++; }); }

    void fromAdmin(const FIX::Message &message, const FIX::SessionID &)
        throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::RejectLogon) {
        const std::string type = message.getHeader().getField(35);
        change([&] {
            if (type == "2") resend_requests++;
            if (type == "3") rejects++;
        });
    }

    void fromApp(const FIX::Message &message, const FIX::SessionID &)
        throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) {
        const std::string id = message.getField(11);
        const bool again = message.getHeader().isSetField(43) && message.getHeader().getField(43) == "Y";
        change([&] {
            if (again) possible_duplicates++;
            bool is_known = false;
            for (const std::string &one : received) is_known = is_known || one == id;
            // What QuickFIX asks for again on purpose comes twice, and says so.
            if (!(again && is_known)) received.push_back(id);
        });
    }

    void wait(const std::string &what, const std::function<bool()> &condition) {
        std::unique_lock<std::mutex> lock(mutex);
        if (!changed.wait_for(lock, std::chrono::seconds(20), condition)) {
            std::cout << "timed out: " << what << "; received " << received.size() << ", logons " << logons << std::endl;
            std::_Exit(1);
        }
        std::cout << what << std::endl;
    }

    template <typename Body> void change(Body body) {
        std::lock_guard<std::mutex> lock(mutex);
        body();
        changed.notify_all();
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> received;
    int logons = 0, logouts = 0, resend_requests = 0, possible_duplicates = 0, rejects = 0;
};

static std::string configuration(bool is_initiator, const std::string &port) {
    std::ostringstream text;
    text << "[DEFAULT]\nConnectionType=" << (is_initiator ? "initiator" : "acceptor") << "\nReconnectInterval=1\nHeartBtInt=30\n"
         << "StartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nSocketConnectHost=127.0.0.1\nSocketConnectPort=" << port
         << "\nSocketAcceptPort=" << port << "\nSocketReuseAddress=Y\nPersistMessages=Y\nResetOnLogout=Y\n"
         << "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=QUICK\nTargetCompID=OURS\n";
    return text.str();
}

static void send(const FIX::SessionID &id, const std::string &name) {
    FIX::Message order;
    order.getHeader().setField(FIX::MsgType("D"));
    order.setField(11, name);
    order.setField(55, "NVDA");
    order.setField(54, "1");
    order.setField(60, FIX::UtcTimeStampConvertor::convert(FIX::UtcTimeStamp(), 3));
    order.setField(40, "1");
    order.setField(38, "100");
    FIX::Session::sendToTarget(order, id);
}

int main(int count, char **words) {
    if (count != 4) return 2;
    const bool is_initiator = std::string(words[1]) == "initiator";
    const int orders = std::stoi(words[3]);
    std::istringstream text(configuration(is_initiator, words[2]));
    FIX::SessionSettings settings(text);
    FIX::MemoryStoreFactory store;
    Peer peer;
    std::unique_ptr<FIX::Initiator> initiator;
    std::unique_ptr<FIX::Acceptor> acceptor;
    if (is_initiator) {
        initiator.reset(new FIX::SocketInitiator(peer, store, settings));
        initiator->start();
    } else {
        acceptor.reset(new FIX::SocketAcceptor(peer, store, settings));
        acceptor->start();
    }
    const FIX::SessionID id("FIX.4.4", "QUICK", "OURS");
    FIX::Session *session = FIX::Session::lookupSession(id);
    std::vector<std::string> sent;
    const auto round = [&](const std::string &name) {
        for (int number = 1; number <= orders; number++) {
            sent.push_back(name + std::to_string(number));
            send(id, sent.back());
        }
        peer.wait(name + ": all came back", [&] { return peer.received.size() >= sent.size(); });
    };

    peer.wait("logged on", [&] { return peer.logons == 1; });
    round("plain");

    // A gap in what we send: the other side asks, and is told that there was nothing.
    session->setNextSenderMsgSeqNum(session->getExpectedSenderNum() + 5);
    round("gap-out");
    peer.wait("a ResendRequest of theirs", [&] { return peer.resend_requests >= 1; });

    // A gap in what we receive, as if the last ten had not come: they are sent again.
    session->setNextTargetMsgSeqNum(session->getExpectedTargetNum() - 10);
    round("gap-in");
    peer.wait("ten that came again", [&] { return peer.possible_duplicates >= 10; });

    // The line breaks; numbers go on.
    session->disconnect();
    peer.wait("logged on again", [&] { return peer.logons == 2; });
    round("line");

    // Both numbers begin again: a new engine, whose first Logon says so. The old one is not told to log on again, for it may do that, and use up a number,
    // before it has a line.
    if (is_initiator) {
        const int before = peer.logouts;
        initiator->stop();
        peer.wait("logged out", [&] { return peer.logouts > before; });
        initiator.reset();
        initiator.reset(new FIX::SocketInitiator(peer, store, settings));
        initiator->start();
        session = FIX::Session::lookupSession(id);
        peer.wait("logged on a third time", [&] { return peer.logons == 3; });
        round("again");
    }

    const int before = peer.logouts;
    session->logout("good night");
    peer.wait("logged out at last", [&] { return peer.logouts > before; });
    if (peer.received != sent || peer.rejects > 0) {
        std::cout << "not once and in order, or rejected: " << peer.rejects << std::endl;
        return 1;
    }
    std::cout << "ok " << sent.size() << std::endl;
    std::cout.flush();
    std::_Exit(0);
}
