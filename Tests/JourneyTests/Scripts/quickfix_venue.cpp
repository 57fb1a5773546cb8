// A venue on QuickFIX, an engine that shares nothing with ours. Orders that meet 125.50 are filled at once, the others rest. A ClOrdID is unique, a request names
// the order by its newest id, and what comes again (PossDupFlag, PossResend) is answered with what was said of it before.
//
// usage: quickfix_venue <port> <folder>    the folder keeps the session's numbers (store) and its orders, also through a kill
// Says on the standard output what comes; told "orders", it names each order: ClOrdID, OrdStatus, OrderQty, CumQty, and ends with a dot.

#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <quickfix/Application.h>
#include <quickfix/FileStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>

static const FIX::SessionID session("FIX.4.4", "QUICK", "ORDERS");

struct Order {
    std::string first, latest, symbol, side, price;
    long quantity = 0, filled = 0;
    char status = '0';
    std::vector<FIX::Message> reports;

    bool isOpen() const { return status == '0' || status == '1'; }
};

class Venue : public FIX::NullApplication {
public:
    explicit Venue(const std::string &path) {
        std::ifstream before(path);
        for (std::string line; std::getline(before, line);) take(line);
        isRestored = true;
        journal = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    }

    void fromApp(const FIX::Message &message, const FIX::SessionID &)
        throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue, FIX::UnsupportedMessageType) {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        const std::string type = message.getHeader().getField(35), id = field(message, 11);
        const bool again = isSet(message, 43) || isSet(message, 97);
        say(type + " " + id + (isSet(message, 43) ? " PossDup" : "") + (isSet(message, 97) ? " PossResend" : ""));
        if (type == "H") return status(message, id);
        if (type == "AF") return massStatus(field(message, 584));
        if (orders.count(id)) {
            if (!again) say("DOUBLE " + id);
            for (const FIX::Message &report : std::vector<FIX::Message>(orders[id]->reports)) send(report);
            return;
        }
        std::ostringstream line;
        line << type << ' ' << id;
        if (type == "D") line << ' ' << field(message, 55) << ' ' << field(message, 54) << ' ' << field(message, 38) << ' ' << field(message, 44);
        else if (type == "F") line << ' ' << field(message, 41);
        else if (type == "G") line << ' ' << field(message, 41) << ' ' << field(message, 38) << ' ' << field(message, 44);
        else throw FIX::UnsupportedMessageType();
        // Written down before anybody hears of it.
        const std::string text = line.str() + "\n";
        if (write(journal, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::_Exit(1);
        take(line.str());
    }

    void list() {
        std::lock_guard<std::recursive_mutex> lock(mutex);
        for (const auto &order : all) {
            std::ostringstream line;
            line << "order " << order->first << ' ' << order->status << ' ' << order->quantity << ' ' << order->filled;
            say(line.str());
        }
        say(".");
    }

    static void say(const std::string &text) { std::cout << text << std::endl; }

private:
    std::recursive_mutex mutex;
    std::map<std::string, std::shared_ptr<Order>> orders;
    std::vector<std::shared_ptr<Order>> all;
    /// Of what the journal brings about, so that a venue that begins again gives each execution the id that it had.
    long executions = 0;
    long answers = 0;
    int journal = -1;
    bool isRestored = false;

    static std::string field(const FIX::Message &message, int tag) { return message.isSetField(tag) ? message.getField(tag) : ""; }
    static bool isSet(const FIX::Message &message, int flag) { return message.getHeader().isSetField(flag) && message.getHeader().getField(flag) == "Y"; }

    void send(FIX::Message message) {
        if (isRestored) FIX::Session::sendToTarget(message, session);
    }

    FIX::Message report(const Order &order, char type) {
        FIX::Message report;
        report.getHeader().setField(FIX::MsgType("8"));
        const std::string now = FIX::UtcTimeStampConvertor::convert(FIX::UtcTimeStamp(), 3);
        for (const auto &one : std::vector<std::pair<int, std::string>>{
                 {37, "Q" + order.first}, {11, order.latest}, {17, type == 'I' ? "S" + std::to_string(getpid()) + "-" + std::to_string(++answers) : "E" + std::to_string(++executions)}, {150, std::string(1, type)},
                 {39, std::string(1, order.status)}, {55, order.symbol}, {54, order.side}, {38, std::to_string(order.quantity)},
                 {14, std::to_string(order.filled)}, {151, std::to_string(order.isOpen() ? order.quantity - order.filled : 0)},
                 {6, order.filled ? "125.50" : "0"}, {60, now}, {75, now.substr(0, 8)}})
            report.setField(one.first, one.second);
        return report;
    }

    void tell(Order &order, const FIX::Message &report) {
        order.reports.push_back(report);
        send(report);
    }

    void fill(Order &order) {
        const long left = order.quantity - order.filled;
        if (!order.isOpen() || std::stod(order.price) < 125.5) return;
        order.filled = order.quantity;
        order.status = '2';
        FIX::Message trade = report(order, 'F');
        trade.setField(32, std::to_string(left));
        trade.setField(31, "125.50");
        tell(order, trade);
    }

    /// One line of the journal.
    void take(const std::string &line) {
        std::istringstream words(line);
        std::string type, id, original;
        words >> type >> id;
        if (type == "D") {
            auto order = std::make_shared<Order>();
            order->first = order->latest = id;
            words >> order->symbol >> order->side >> order->quantity >> order->price;
            orders[id] = order;
            all.push_back(order);
            tell(*order, report(*order, '0'));
            return fill(*order);
        }
        words >> original;
        const auto found = orders.find(original);
        Order *order = found == orders.end() || found->second->latest != original ? nullptr : found->second.get();
        if (order == nullptr || !order->isOpen()) return refuse(type, id, original, order);
        orders[id] = found->second;
        if (type == "F") {
            order->status = '4';
        } else {
            words >> order->quantity >> order->price;
            order->latest = id;
        }
        FIX::Message done = report(*order, type == "F" ? '4' : '5');
        done.setField(11, id);
        done.setField(41, original);
        tell(*order, done);
        fill(*order);
    }

    void refuse(const std::string &type, const std::string &id, const std::string &original, Order *order) {
        FIX::Message refusal;
        refusal.getHeader().setField(FIX::MsgType("9"));
        for (const auto &one : std::vector<std::pair<int, std::string>>{
                 {37, order ? "Q" + order->first : "NONE"}, {11, id}, {41, original}, {39, std::string(1, order ? order->status : '8')},
                 {434, type == "F" ? "1" : "2"}, {102, order ? "0" : "1"}, {58, order ? "too late" : "unknown order"}})
            refusal.setField(one.first, one.second);
        send(refusal);
    }

    FIX::Message nothingKnown(const std::string &id) {
        Order nobody;
        nobody.first = nobody.latest = id;
        nobody.symbol = "[N/A]";
        nobody.side = "7";
        nobody.status = '8';
        FIX::Message answer = report(nobody, 'I');
        answer.setField(37, "NONE");
        answer.setField(103, "5");
        return answer;
    }

    void status(const FIX::Message &question, const std::string &id) {
        FIX::Message answer = orders.count(id) ? report(*orders[id], 'I') : nothingKnown(id);
        if (!orders.count(id))
            for (int tag : {55, 54}) answer.setField(tag, field(question, tag));
        if (question.isSetField(790)) answer.setField(790, question.getField(790));
        send(answer);
    }

    void massStatus(const std::string &id) {
        size_t count = 0;
        for (const auto &order : all) massStatus(id, report(*order, 'I'), all.size(), ++count == all.size());
        if (all.empty()) massStatus(id, nothingKnown("NONE"), 0, true);
    }

    void massStatus(const std::string &id, FIX::Message answer, size_t total, bool isLast) {
        answer.setField(584, id);
        answer.setField(911, std::to_string(total));
        answer.setField(912, isLast ? "Y" : "N");
        send(answer);
    }
};

int main(int count, char **words) {
    if (count != 3) return 2;
    const std::string folder = words[2];
    std::ostringstream text;
    text << "[DEFAULT]\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\nUseDataDictionary=N\nSocketAcceptPort=" << words[1]
         << "\nSocketReuseAddress=Y\nPersistMessages=Y\nFileStorePath=" << folder << "/store\n"
         << "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=QUICK\nTargetCompID=ORDERS\n";
    std::istringstream configuration(text.str());
    FIX::SessionSettings settings(configuration);
    FIX::FileStoreFactory store(settings);
    Venue venue(folder + "/orders");
    FIX::SocketAcceptor acceptor(venue, store, settings);
    acceptor.start();
    Venue::say("ready");
    for (std::string line; std::getline(std::cin, line);)
        if (line == "orders") venue.list();
    std::_Exit(0);
}
